// SPDX-License-Identifier: MIT OR Apache-2.0
//! Three guests, twenty sandboxes, four threads: all that makes it hard to say which sandbox
//! a sample is of. Each line that it prints is what a thread did, and when:
//!
//!     THREAD BEGIN END SANDBOX GUEST WHAT
//!
//! BEGIN and END are of CLOCK_MONOTONIC, in nanoseconds; SANDBOX counts all that were made,
//! GUEST those in `GUESTS`, each from 1 on.
use hyperlight_host::func::Registerable;
use hyperlight_host::sandbox::snapshot::{OciTag, Snapshot};
use hyperlight_host::{HostFunctions, Sandbox, SandboxBuilder};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

const USAGE: &str = "\
usage: many [apart|disk]

Without a word sandboxes go from thread to thread, are dropped and made anew, and are restored
into one another. apart: each thread has those of one guest, and the last one does little. disk:
one sandbox, of a snapshot that was saved and loaded.";

// Two builds of one guest, and another one.
static GUESTS: [&[u8]; 3] = [
    include_bytes!(env!("RIG_GUEST_1")),
    include_bytes!(env!("RIG_GUEST_2")),
    include_bytes!(env!("RIG_GUEST_3")),
];
const SANDBOXES: usize = 20;
const THREADS: usize = 4;
const ROUNDS: usize = 6;
const SORTS: i32 = 800;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
/// A sandbox's memory, and the guest that is in it.
type Kept = (Arc<Snapshot>, usize);

static MADE: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    fn gettid() -> i32;
}

fn now() -> i64 {
    let mut time = [0i64; 2];
    unsafe { clock_gettime(1, &mut time) };
    time[0] * 1_000_000_000 + time[1]
}

/// Does something, and prints the line of it.
fn told<T>(
    number: usize,
    guest: usize,
    what: &str,
    does: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let begin = now();
    let done = does()?;
    let thread = unsafe { gettid() };
    println!("{thread} {begin} {} {number} {} {what}", now(), guest + 1);
    Ok(done)
}

struct One {
    sandbox: Sandbox,
    number: usize,
    guest: usize,
    calls: i64,
}

impl One {
    fn new(
        guest: usize,
        what: &str,
        does: impl FnOnce() -> Result<Sandbox>,
    ) -> Result<Self> {
        let number = MADE.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(Self {
            sandbox: told(number, guest, what, does)?,
            number,
            guest,
            calls: 0,
        })
    }

    fn made(guest: usize) -> Result<Self> {
        Self::new(guest, "make", || {
            Ok(SandboxBuilder::from_bytes(GUESTS[guest])
                .host_function("Tick", |n: i32| Ok(n.wrapping_add(1)))
                .heap_size(4 << 20)
                .scratch_size(64 << 20)
                .build()?)
        })
    }

    /// It begins with another one's memory, and runs nothing until it is called.
    fn copied(kept: &Kept) -> Result<Self> {
        Self::new(kept.1, "copy", || {
            let mut functions = HostFunctions::default();
            functions.register_host_function("Tick", |n: i32| Ok(n.wrapping_add(1)))?;
            Ok(Sandbox::from_snapshot(kept.0.clone(), functions, None)?)
        })
    }

    fn keep(&mut self) -> Result<Kept> {
        let kept = told(self.number, self.guest, "keep", || {
            Ok(self.sandbox.snapshot()?)
        })?;
        Ok((kept, self.guest))
    }

    fn restore(&mut self, kept: &Kept) -> Result<()> {
        self.guest = kept.1;
        told(self.number, self.guest, "restore", || {
            Ok(self.sandbox.restore(kept.0.clone())?)
        })
    }

    fn call(&mut self, sorts: i32) -> Result<()> {
        self.calls += 1;
        let arguments = ("sort".to_string(), sorts, sorts / 4, self.calls);
        told(self.number, self.guest, "call", || {
            Ok(self.sandbox.call::<i64>("Work", arguments)?)
        })?;
        Ok(())
    }
}

/// What a thread does in a round with those sandboxes that it has now.
fn round(
    round: usize,
    thread: usize,
    all: &[Mutex<Option<One>>],
    kept: &[Kept],
) -> Result<()> {
    let mine = || (0..SANDBOXES).filter(move |at| (at + round) % THREADS == thread);
    for at in mine() {
        let mut place = all[at].lock().map_err(|_| "a thread died")?;
        let other = &kept[(at + 7 * round) % SANDBOXES];
        match (at / THREADS + round) % 5 {
            _ if round == 0 => {}
            0 => {
                // Its descriptors are free before the new one takes some.
                *place = None;
                *place = Some(One::made((at + round) % GUESTS.len())?);
            }
            1 => {
                *place = None;
                *place = Some(One::copied(other)?);
            }
            2 => place.as_mut().ok_or("none")?.restore(other)?,
            _ => {}
        }
    }
    for _ in 0..2 {
        for at in mine() {
            let mut place = all[at].lock().map_err(|_| "a thread died")?;
            place.as_mut().ok_or("none")?.call(SORTS)?;
        }
    }
    Ok(())
}

fn on_threads(does: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    std::thread::scope(|scope| {
        let does = &does;
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || does(thread)))
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a thread died")?)
    })
}

fn together() -> Result<()> {
    let mut kept = Vec::new();
    let mut all = Vec::new();
    for at in 0..SANDBOXES {
        let mut one = One::made(at % GUESTS.len())?;
        kept.push(one.keep()?);
        all.push(Mutex::new(Some(one)));
    }
    let barrier = Barrier::new(THREADS);
    on_threads(|thread| {
        (0..ROUNDS).try_for_each(|at| {
            barrier.wait();
            round(at, thread, &all, &kept)
        })
    })
}

fn apart() -> Result<()> {
    on_threads(|thread| {
        let sandboxes = if thread + 1 < THREADS { 6 } else { 2 };
        let mut mine = (0..sandboxes)
            .map(|_| One::made(thread % GUESTS.len()))
            .collect::<Result<Vec<_>>>()?;
        if thread + 1 == THREADS {
            return mine[0].call(20);
        }
        (0..2 * ROUNDS)
            .try_for_each(|_| mine.iter_mut().try_for_each(|one| one.call(SORTS)))
    })
}

fn disk() -> Result<()> {
    let (path, tag) = (
        std::env::temp_dir().join("many.snapshot"),
        OciTag::new("kept")?,
    );
    One::made(0)?.keep()?.0.save(&path, &tag)?;
    let loaded = Arc::new(Snapshot::load(&path, tag)?);
    let mut one = One::copied(&(loaded, 0))?;
    (0..ROUNDS).try_for_each(|_| one.call(10 * SORTS))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => together(),
        ["apart"] => apart(),
        ["disk"] => disk(),
        _ => Err(USAGE.into()),
    };
    if let Err(problem) = done {
        eprintln!("many: {problem}");
        std::process::exit(1);
    }
}
