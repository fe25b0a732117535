// SPDX-License-Identifier: GPL-2.0-only
//! A guest in Rust, for its names: v0 mangling with generics, trait methods and closures.
//!
//! tests/data/rusty.elf is this file, built once (by rustc 1.95.0 with its own rust-lld):
//!
//!     rustc --edition 2021 --crate-name rusty -C opt-level=2 -C panic=abort \
//!         -C symbol-mangling-version=v0 -C relocation-model=pie \
//!         -C link-arg=-nostdlib -C link-arg=-nostartfiles -C link-arg=-static-pie \
//!         -C link-arg=-Wl,--build-id=none -C link-arg=-Wl,-z,max-page-size=4096 \
//!         -o rusty.elf rusty.rs && strip --strip-debug rusty.elf
//!
//! Every run does the same work and ends with an out to Hyperlight's Halt port.
#![no_std]
#![no_main]

use core::arch::asm;
use core::hint::black_box;

const PORT_LOG: u16 = 99;
const PORT_ABORT: u16 = 102;
const PORT_HALT: u16 = 108;

/// A gABI note with 8-byte alignment; both lengths count the terminating zero.
#[repr(C, align(8))]
pub struct Note {
    name_size: u32,
    desc_size: u32,
    kind: u32,
    name: [u8; 12],
    desc: [u8; 8],
}

#[used]
#[link_section = ".note.hyperlight-version"]
pub static NOTE: Note = Note {
    name_size: 11,
    desc_size: 7,
    kind: 1,
    name: *b"Hyperlight\0\0",
    desc: *b"0.17.0\0\0",
};

fn out(port: u16, value: u32) {
    unsafe { asm!("out dx, eax", in("dx") port, in("eax") value, options(nostack)) }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {
        out(PORT_ABORT, 1);
    }
}

/// Something with an area; two implementations, called through a vtable.
pub trait Shape {
    fn area(&self, scale: u64) -> u64;
}

pub struct Square(u64);
pub struct Ring<const SIDES: usize> {
    radii: [u64; SIDES],
}

impl Shape for Square {
    #[inline(never)]
    fn area(&self, scale: u64) -> u64 {
        (0..160).fold(self.0, |sum, i| (sum ^ i).wrapping_mul(scale | 1).rotate_left(7))
    }
}

impl<const SIDES: usize> Shape for Ring<SIDES> {
    #[inline(never)]
    fn area(&self, scale: u64) -> u64 {
        let mut sum = scale;
        for _ in 0..8 {
            for radius in &self.radii {
                sum = sum.wrapping_add(radius.wrapping_mul(sum | 3)).rotate_right(11);
            }
        }
        sum
    }
}

/// Generic over the element, so that two instances of it are in the symbol table.
#[inline(never)]
pub fn largest<T: Copy + PartialOrd>(items: &[T], start: T) -> T {
    let mut best = start;
    for &item in items {
        if black_box(item) > best {
            best = item;
        }
    }
    best
}

/// Generic over a closure: the closures below are hot inside their instances of it.
#[inline(never)]
pub fn for_each_word<F: FnMut(usize, &mut u64)>(words: &mut [u64], mut visit: F) {
    for (index, word) in words.iter_mut().enumerate() {
        visit(index, word);
    }
}

pub mod codec {
    pub struct Encoder<'a, const N: usize> {
        pub table: &'a [u64; N],
    }

    impl<const N: usize> Encoder<'_, N> {
        #[inline(never)]
        pub fn encode(&self, words: &[u64]) -> u64 {
            let mut state = 1u64;
            for word in words {
                let key = self.table[(word ^ state) as usize % N];
                state = state.rotate_left(5) ^ key.wrapping_add(*word);
            }
            state
        }
    }
}

#[inline(never)]
fn never_called(words: &mut [u64]) {
    for_each_word(words, |index, word| *word /= index as u64 + 1);
}

static TABLE: [u64; 16] = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3];

#[inline(never)]
fn one_round(words: &mut [u64; 256], seed: u64) -> u64 {
    let mut state = seed;
    let mut mix = black_box(0x9e37_79b9_7f4a_7c15);
    for_each_word(words, |index, word| {
        mix = (mix ^ index as u64).wrapping_mul(0x2545_f491_4f6c_dd1d);
        *word = word.wrapping_add(mix ^ mix >> 29);
    });
    for_each_word(words, |_, word| *word ^= *word >> 13);
    let encoder = codec::Encoder { table: &TABLE };
    for _ in 0..3 {
        state ^= encoder.encode(words);
    }
    let ring = Ring { radii: [words[0], words[1], words[2], words[3], words[4]] };
    let shapes: [&dyn Shape; 2] = [&Square(state), &ring];
    for shape in black_box(shapes) {
        state = state.wrapping_add(shape.area(seed));
    }
    let bytes: [u8; 128] = core::array::from_fn(|index| words[index] as u8);
    state ^ largest(words.as_slice(), 0) ^ u64::from(largest(&bytes, 0))
}

#[no_mangle]
pub extern "C" fn _start() -> ! {
    let mut words = [7u64; 256];
    let mut state = 1;
    out(PORT_LOG, 1);
    for _ in 0..1000 {
        state = one_round(&mut words, state);
    }
    if black_box(false) {
        never_called(&mut words);
    }
    black_box(state);
    loop {
        out(PORT_HALT, 0);
    }
}
