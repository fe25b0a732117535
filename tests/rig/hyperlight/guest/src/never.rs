// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions that no call of `Work` reaches. They are hot libraries' other halves: of each
//! that works, one that does not. The host never calls `Never`.

use crate::random::Random;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

#[inline(never)]
pub fn inflate(data: &mut Random) -> u64 {
    let packed: Vec<u8> = (0..64).map(|_| data.next() as u8).collect();
    miniz_oxide::inflate::decompress_to_vec(&packed).map_or(0, |text| text.len() as u64)
}

#[inline(never)]
pub fn merge_sort(data: &mut Random) -> u64 {
    let mut keys: Vec<u64> = (0..64).map(|_| data.next()).collect();
    keys.sort_by_key(|key| key.count_ones());
    keys[0]
}

#[inline(never)]
pub fn range(data: &mut Random) -> u64 {
    let map: BTreeMap<u32, u64> = (0..64).map(|at| (data.next() as u32, at)).collect();
    map.range(data.next() as u32..).map(|(_, at)| at).sum()
}

#[inline(never)]
pub fn pretty(data: &mut Random) -> u64 {
    let value: serde_json::Value = data.next().into();
    serde_json::to_string_pretty(&value).map_or(0, |text| text.len() as u64)
}

#[inline(never)]
pub fn checksum(data: &mut Random) -> u64 {
    (0..64).fold(1, |sum, _| (sum + (data.next() & 0xff)) % 65521)
}

#[inline(never)]
pub fn all(data: &mut Random) -> u64 {
    inflate(data) ^ merge_sort(data) ^ range(data) ^ pretty(data) ^ checksum(data)
}
