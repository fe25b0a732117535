// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the calls that it is told in Hyperlight sandboxes, and says what came of each.

use hyperlight_host::sandbox::snapshot::Snapshot;
use hyperlight_host::{Sandbox, SandboxBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const USAGE: &str = "\
usage: rig-host [--seed=N] [--delay-us=N] [--turns] ELF STEP... [, ELF STEP...]...

Each ELF gets a sandbox and a thread of its own; --turns runs all in one thread, a step of
each in turn. Steps:
  KIND[+KIND...]=ROUNDS[/EVERY][*TIMES]
                                TIMES guest calls of ROUNDS rounds each, with a host call
                                after each EVERY rounds; every call has another seed
  cancel=MILLISECONDS           a guest call that never ends, and is cancelled
  snapshot, restore             keep the sandbox's state, and go back to it
KIND: hash sort tree json deflate alloc fault pages print calls; mix is the first six";

const MIX: &str = "hash+sort+tree+json+deflate+alloc";

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

struct Guest {
    name: String,
    sandbox: Sandbox,
    snapshot: Option<Arc<Snapshot>>,
    ticks: Arc<AtomicU64>,
    seed: i64,
}

impl Guest {
    fn new(elf: &str, seed: i64) -> Result<Self> {
        let ticks = Arc::new(AtomicU64::new(0));
        let counter = ticks.clone();
        let sandbox = SandboxBuilder::from_file(elf)
            .host_function("Tick", move |n: i32| {
                counter.fetch_add(1, Ordering::Relaxed);
                Ok(n.wrapping_add(1))
            })
            .heap_size(4 << 20)
            .scratch_size(64 << 20)
            .build()?;
        let name = elf.rsplit('/').next().unwrap_or(elf).to_string();
        Ok(Self {
            name,
            sandbox,
            snapshot: None,
            ticks,
            seed,
        })
    }

    fn work(&mut self, kind: &str, how: &str) -> Result<String> {
        let (how, times) = how.split_once('*').unwrap_or((how, "1"));
        let (rounds, every) = how.split_once('/').unwrap_or((how, "0"));
        let (rounds, every): (i32, i32) = (rounds.parse()?, every.parse()?);
        let before = self.ticks.load(Ordering::Relaxed);
        let mut sum = 0i64;
        let kind = if kind == "mix" { MIX } else { kind };
        for _ in 0..times.parse::<u32>()? {
            let arguments = (kind.to_string(), rounds, every, self.seed);
            sum = sum.rotate_left(1) ^ self.sandbox.call::<i64>("Work", arguments)?;
            self.seed += 1;
        }
        let ticks = self.ticks.load(Ordering::Relaxed) - before;
        Ok(format!("{sum:#x}, {ticks} host calls"))
    }

    /// A call that would never end. The sandbox is of no use afterwards, until restored.
    fn cancel(&mut self, milliseconds: &str) -> Result<String> {
        let after = Duration::from_millis(milliseconds.parse()?);
        let handle = self.sandbox.interrupt_handle();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(after);
            handle.kill()
        });
        let arguments = ("spin".to_string(), 1, 0, 0i64);
        let result = self.sandbox.call::<i64>("Work", arguments);
        killer.join().map_err(|_| "the killer died")?;
        match result {
            Err(_) => Ok("cancelled".to_string()),
            Ok(_) => Err("an endless call returned".into()),
        }
    }

    fn step(&mut self, step: &str) -> Result<()> {
        let said = match step.split_once('=').unwrap_or((step, "")) {
            ("snapshot", "") => {
                self.snapshot = Some(self.sandbox.snapshot()?);
                "kept".to_string()
            }
            ("restore", "") => {
                let snapshot = self.snapshot.clone().ok_or("nothing was kept")?;
                self.sandbox.restore(snapshot)?;
                "restored".to_string()
            }
            ("cancel", milliseconds) => self.cancel(milliseconds)?,
            (kind, how) => self.work(kind, how)?,
        };
        println!("{} {step}: {said}", self.name);
        Ok(())
    }
}

fn in_turn(groups: &[&[String]], seed: i64) -> Result<()> {
    let mut guests = groups
        .iter()
        .map(|group| Guest::new(&group[0], seed))
        .collect::<Result<Vec<_>>>()?;
    let most = groups.iter().map(|group| group.len()).max().unwrap_or(0);
    for at in 1..most {
        for (guest, group) in guests.iter_mut().zip(groups) {
            group.get(at).map_or(Ok(()), |step| guest.step(step))?;
        }
    }
    Ok(())
}

fn at_once(groups: &[&[String]], seed: i64) -> Result<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = groups
            .iter()
            .map(|group| {
                scope.spawn(move || {
                    let mut guest = Guest::new(&group[0], seed)?;
                    group[1..].iter().try_for_each(|step| guest.step(step))
                })
            })
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a thread died")?)
    })
}

fn run() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mut seed, mut turns) = (1, false);
    while arguments
        .first()
        .is_some_and(|first| first.starts_with("--"))
    {
        let option = arguments.remove(0);
        match option.split_once('=').unwrap_or((&option, "")) {
            ("--seed", number) => seed = number.parse()?,
            ("--delay-us", number) => {
                std::thread::sleep(Duration::from_micros(number.parse()?))
            }
            ("--turns", "") => turns = true,
            _ => return Err(USAGE.into()),
        }
    }
    let groups: Vec<&[String]> = arguments.split(|word| word == ",").collect();
    if groups.iter().any(|group| group.is_empty()) {
        return Err(USAGE.into());
    }
    if turns {
        in_turn(&groups, seed)
    } else {
        at_once(&groups, seed)
    }
}

fn main() {
    if let Err(problem) = run() {
        eprintln!("rig-host: {problem}");
        std::process::exit(1);
    }
}
