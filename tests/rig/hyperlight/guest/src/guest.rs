// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Hyperlight guest that does work of known kinds, known numbers of times.
//!
//! `Work(kinds, rounds, every, seed)` does `rounds` rounds. Each round calls `round` of each
//! kind that is named, as in `sort+json`, once; after each `every` rounds the host function
//! `Tick` is called. The seed decides the data, and so how long a round takes.
//! The functions in `never` are linked between those that run, and are never called.
#![no_std]
#![no_main]
extern crate alloc;

mod kinds;
mod never;
mod random;
mod runtime;

use alloc::string::String;
use alloc::vec::Vec;
use hyperlight_guest::bail;
use hyperlight_guest::error::Result;
use hyperlight_guest_bin::{guest_function, host_function};
use random::Random;

#[host_function("Tick")]
fn tick(n: i32) -> Result<i32>;

/// One round. Returns something that depends on all that was computed.
#[inline(never)]
fn one_round(kind: &str, data: &mut Random) -> Option<u64> {
    Some(match kind {
        "hash" => kinds::hash::round(data),
        "sort" => kinds::sort::round(data),
        "tree" => kinds::tree::round(data),
        "json" => kinds::json::round(data),
        "deflate" => kinds::deflate::round(data),
        "alloc" => kinds::alloc::round(data),
        "fault" => kinds::fault::round(data),
        "pages" => kinds::pages::round(data),
        "print" => kinds::print::round(data),
        "calls" => data.next(),
        "spin" => kinds::spin::round(),
        _ => return None,
    })
}

#[guest_function("Work")]
fn work(kinds: String, rounds: i32, every: i32, seed: i64) -> Result<i64> {
    let mut data = Random::new(seed as u64);
    let kinds: Vec<&str> = kinds.split('+').collect();
    let mut sum = 0u64;
    for round in 1..=rounds {
        for kind in &kinds {
            let Some(value) = one_round(kind, &mut data) else {
                bail!("no such kind of work: {kind}");
            };
            sum = sum.rotate_left(5) ^ value;
        }
        if every > 0 && round % every == 0 {
            sum ^= tick(round)? as u64;
        }
    }
    Ok((sum >> 1) as i64)
}

#[guest_function("Never")]
fn never() -> Result<i64> {
    Ok(never::all(&mut Random::new(1)) as i64)
}
