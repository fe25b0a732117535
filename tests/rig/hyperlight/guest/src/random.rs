// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that a seed decides: xorshift64*, by Marsaglia and Vigna.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 32) % limit
    }
}
