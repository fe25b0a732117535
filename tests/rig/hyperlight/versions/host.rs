// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user's program is: one that has its guest inside, and needs no words. With the word
//! `fail` each of its calls fails: by a fault, a panic, and a time-out.
use hyperlight_host::Result;

static GUEST: &[u8] = include_bytes!("guest.elf");
const CALLS: i64 = 6;

#[cfg(feature = "old")]
fn sandbox() -> Result<hyperlight_host::MultiUseSandbox> {
    use hyperlight_host::{
        GuestBinary, UninitializedSandbox, sandbox::SandboxConfiguration,
    };
    let mut how = SandboxConfiguration::default();
    how.set_heap_size(4 << 20);
    how.set_scratch_size(64 << 20);
    let mut made = UninitializedSandbox::new(GuestBinary::Buffer(GUEST), Some(how))?;
    made.register("Tick", |n: i32| Ok(n.wrapping_add(1)))?;
    made.evolve()
}

#[cfg(not(feature = "old"))]
macro_rules! sandbox {
    () => {
        hyperlight_host::SandboxBuilder::from_bytes(GUEST)
            .host_function("Tick", |n: i32| Ok(n.wrapping_add(1)))
            .heap_size(4 << 20)
            .scratch_size(64 << 20)
            .build()
    };
}

#[cfg(feature = "old")]
macro_rules! sandbox {
    () => {
        sandbox()
    };
}

fn work() -> Result<()> {
    let mut sandbox = sandbox!()?;
    let mut sum = 0i64;
    for seed in 1..=CALLS {
        sum ^= sandbox.call::<i64>("Work", (2000, 100, seed))?;
    }
    println!("{sum:#x}");
    Ok(())
}

fn fail() -> Result<()> {
    for how in 0..3 {
        let mut sandbox = sandbox!()?;
        sandbox.call::<i64>("Work", (2000, 100, 1i64))?;
        let handle = sandbox.interrupt_handle();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(200));
            how == 2 && handle.kill()
        });
        match sandbox.call::<i64>("Fail", how) {
            Ok(_) => println!("{how}: returned"),
            Err(error) => println!("{how}: {error}"),
        }
        let _ = killer.join();
    }
    Ok(())
}

fn main() -> Result<()> {
    if std::env::args().nth(1).is_some() {
        fail()
    } else {
        work()
    }
}
