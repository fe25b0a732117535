// SPDX-License-Identifier: MIT OR Apache-2.0
//! A guest of any Hyperlight from 0.13.1 on: `Work(rounds, every, seed)` sorts, hashes and
//! searches, once a round, and calls the host's `Tick` after each `every` rounds.
//! `Fail(how)` does not return: it reads where nothing is, panics, or goes on for ever.
#![no_std]
#![no_main]
extern crate alloc;

use alloc::vec::Vec;
use hyperlight_guest::error::Result;
use hyperlight_guest_bin::{guest_function, host_function};

const SIZE: usize = 48;

#[host_function("Tick")]
fn tick(n: i32) -> Result<i32>;

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[inline(never)]
fn sort(keys: &mut [u64]) {
    for at in 1..keys.len() {
        let key = keys[at];
        let mut hole = at;
        while hole > 0 && keys[hole - 1] > key {
            keys[hole] = keys[hole - 1];
            hole -= 1;
        }
        keys[hole] = key;
    }
}

#[inline(never)]
fn hash(keys: &[u64]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325u64;
    for byte in keys.iter().flat_map(|key| key.to_le_bytes()) {
        sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    sum
}

#[inline(never)]
fn search(keys: &[u64], wanted: u64) -> usize {
    keys.partition_point(|key| *key < wanted)
}

#[guest_function("Work")]
fn work(rounds: i32, every: i32, seed: i64) -> Result<i64> {
    let mut state = seed as u64 | 1;
    let mut sum = 0u64;
    for round in 1..=rounds {
        let mut keys: Vec<u64> = (0..SIZE).map(|_| next(&mut state)).collect();
        sort(&mut keys);
        sum = sum.rotate_left(5) ^ hash(&keys);
        for _ in 0..SIZE {
            sum += search(&keys, next(&mut state)) as u64;
        }
        if every > 0 && round % every == 0 {
            sum ^= tick(round)? as u64;
        }
    }
    Ok((sum >> 1) as i64)
}

#[inline(never)]
fn read_nothing(at: usize) -> i64 {
    unsafe { core::ptr::read_volatile(at as *const i64) }
}

#[inline(never)]
fn spin() -> i64 {
    let mut state = 1;
    while next(&mut state) != 0 {}
    0
}

#[guest_function("Fail")]
fn fail(how: i32) -> Result<i64> {
    Ok(match how {
        // Above all that a guest has.
        0 => read_nothing(1 << 45),
        1 => panic!("as it was asked to"),
        _ => spin(),
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hyperlight_main() {}

// What 0.13 does not define.
#[cfg(feature = "old")]
#[unsafe(no_mangle)]
pub fn guest_dispatch_function(
    call: hyperlight_common::flatbuffer_wrappers::function_call::FunctionCall,
) -> Result<Vec<u8>> {
    use hyperlight_common::flatbuffer_wrappers::guest_error::ErrorCode::GuestFunctionNotFound;
    Err(hyperlight_guest::error::HyperlightGuestError::new(
        GuestFunctionNotFound,
        call.function_name,
    ))
}

// What the core of a hosted target names, and nothing here reaches.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() {}
