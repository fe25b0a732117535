// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kinds of work. A `round` runs once for each round that was asked for.

pub mod hash {
    use crate::random::Random;
    use sha2::{Digest, Sha256};

    /// The SHA-256 of 512 to 1,023 bytes.
    #[inline(never)]
    pub fn round(data: &mut Random) -> u64 {
        let mut text = [0u8; 1024];
        let size = 512 + data.below(512) as usize;
        for byte in &mut text[..size] {
            *byte = data.next() as u8;
        }
        let digest = Sha256::digest(&text[..size]);
        u64::from_le_bytes(digest[..8].try_into().unwrap())
    }
}

pub mod sort {
    use crate::random::Random;

    /// Sorts 40 to 71 numbers, half of them by insertion: quadratic, and plain.
    #[inline(never)]
    pub fn round(data: &mut Random) -> u64 {
        let mut keys = [0u32; 72];
        let size = 40 + data.below(32) as usize;
        for key in &mut keys[..size] {
            *key = data.next() as u32;
        }
        let (left, right) = keys[..size].split_at_mut(size / 2);
        if cfg!(feature = "changed") {
            let mut copy = [0u32; 72];
            copy[..left.len()].copy_from_slice(left);
            insertion(&mut copy[..left.len()]);
        }
        insertion(left);
        right.sort_unstable();
        (left[0] ^ right[0]) as u64
    }

    #[inline(never)]
    fn insertion(keys: &mut [u32]) {
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
}

pub mod tree {
    use crate::random::Random;
    use alloc::collections::BTreeMap;

    /// Puts 24 to 39 keys into a map, and takes every second one out.
    #[inline(never)]
    pub fn round(data: &mut Random) -> u64 {
        let mut map = BTreeMap::new();
        for at in 0..24 + data.below(16) {
            map.insert(data.next() as u32, at);
        }
        let keys: alloc::vec::Vec<u32> = map.keys().step_by(2).copied().collect();
        keys.iter().filter_map(|key| map.remove(key)).sum()
    }
}

pub mod json {
    use crate::random::Random;
    use alloc::string::String;
    use core::fmt::Write;
    use serde_json::Value;

    /// Writes a document of 4 to 11 records, parses it, and writes it again.
    #[inline(never)]
    pub fn round(data: &mut Random) -> u64 {
        let mut text = String::from("[");
        for at in 0..4 + data.below(8) {
            let comma = if at > 0 { "," } else { "" };
            let (id, size) = (data.below(1000), data.below(100_000));
            let _ = write!(
                text,
                r#"{comma}{{"id":{id},"name":"n{id}","sizes":[{at},{size}]}}"#
            );
        }
        text.push(']');
        let value: Value = serde_json::from_str(&text).unwrap();
        serde_json::to_string(&value).unwrap().len() as u64
    }
}

pub mod deflate {
    use crate::random::Random;
    use alloc::vec::Vec;

    /// Compresses 1,024 bytes of few letters. Nothing is ever inflated.
    #[inline(never)]
    pub fn round(data: &mut Random) -> u64 {
        let mut text = Vec::with_capacity(1024);
        while text.len() < 1024 {
            let letters = data.next();
            text.extend((0..8).map(|at| b'a' + (letters >> (8 * at) & 3) as u8));
        }
        miniz_oxide::deflate::compress_to_vec(&text, 1).len() as u64
    }
}

pub mod alloc {
    use crate::random::Random;
    use ::alloc::boxed::Box;
    use ::alloc::vec::Vec;

    /// Allocates 32 blocks of 16 to 271 bytes, and frees every other one first.
    #[inline(never)]
    pub fn round(data: &mut Random) -> u64 {
        let mut blocks: Vec<Option<Box<[u8]>>> = (0..32)
            .map(|_| Some(::alloc::vec![1u8; 16 + data.below(256) as usize].into()))
            .collect();
        for block in blocks.iter_mut().step_by(2) {
            *block = None;
        }
        blocks
            .iter()
            .flatten()
            .map(|block| block.len() as u64)
            .sum()
    }
}

pub mod fault {
    use crate::random::Random;
    use core::sync::atomic::Ordering;
    #[allow(deprecated)]
    use hyperlight_guest_bin::exception::arch::{Context, ExceptionInfo, HANDLERS};

    const INVALID_OPCODE: usize = 6;

    /// Steps over `ud2`, which is two bytes long.
    #[allow(deprecated)]
    fn step_over(_: u64, info: *mut ExceptionInfo, _: *mut Context, _: u64) -> bool {
        unsafe { (*info).rip += 2 };
        true
    }

    /// An instruction that faults, and is handled.
    #[inline(never)]
    #[allow(deprecated)]
    pub fn round(data: &mut Random) -> u64 {
        HANDLERS[INVALID_OPCODE].store(step_over as *const () as u64, Ordering::Relaxed);
        unsafe { core::arch::asm!("ud2") };
        data.next()
    }
}

pub mod pages {
    use crate::random::Random;

    const PAGE: usize = 4096;
    static mut TABLE: [[u64; PAGE / 8]; 256] = [[0; PAGE / 8]; 256];

    /// Writes into one of 256 pages of the image: the first write to each since the
    /// sandbox was made or restored is a fault.
    #[inline(never)]
    pub fn round(data: &mut Random) -> u64 {
        let (page, word) = (data.below(256) as usize, data.below(512) as usize);
        unsafe {
            let at = (&raw mut TABLE[page][word]).cast::<u64>();
            at.write_volatile(at.read_volatile() + 3);
            at.read()
        }
    }
}

pub mod print {
    use crate::random::Random;

    /// Three exits that the host does next to nothing for: a byte each for its stderr.
    #[inline(never)]
    pub fn round(data: &mut Random) -> u64 {
        hyperlight_guest::exit::debug_print("ok\n");
        data.next()
    }
}

pub mod spin {
    /// Never ends: for a call that is cancelled.
    #[inline(never)]
    pub fn round() -> u64 {
        let mut turns = 0u64;
        loop {
            turns = core::hint::black_box(turns + 1);
        }
    }
}
