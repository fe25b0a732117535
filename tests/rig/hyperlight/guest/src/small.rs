// SPDX-License-Identifier: MIT OR Apache-2.0
//! A guest that sorts, and calls its host: small, for what needs source lines. It takes the
//! same call as the other one, `Work(kinds, rounds, every, seed)`, and `kinds` is `sort`.
#![no_std]
#![no_main]
extern crate alloc;

#[allow(dead_code)]
mod kinds;
mod random;
mod runtime;

use alloc::string::String;
use hyperlight_guest::bail;
use hyperlight_guest::error::Result;
use hyperlight_guest_bin::{guest_function, host_function};
use random::Random;

#[host_function("Tick")]
fn tick(n: i32) -> Result<i32>;

#[guest_function("Work")]
fn work(kinds: String, rounds: i32, every: i32, seed: i64) -> Result<i64> {
    if kinds != "sort" {
        bail!("no such kind of work: {kinds}");
    }
    let mut data = Random::new(seed as u64);
    let mut sum = 0u64;
    for round in 1..=rounds {
        sum = sum.rotate_left(5) ^ kinds::sort::round(&mut data);
        if every > 0 && round % every == 0 {
            sum ^= tick(round)? as u64;
        }
    }
    Ok((sum >> 1) as i64)
}
