// SPDX-License-Identifier: GPL-2.0-only
//! A guest in Rust with its whole standard library: maps, sorting, strings, formatting.
use std::collections::{BTreeMap, HashMap};

fn text(seed: &mut u64, words: usize) -> String {
    let mut text = String::new();
    for _ in 0..words {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        text.push_str(&format!("w{:x} ", (*seed >> 40) % 700));
    }
    text
}

fn count(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word.to_uppercase()).or_insert(0) += 1;
    }
    counts
}

fn rank(counts: HashMap<String, usize>) -> Vec<(String, usize)> {
    let mut ranked: Vec<_> = counts.into_iter().collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    ranked
}

fn index(ranked: &[(String, usize)]) -> BTreeMap<Key, String> {
    let mut index = BTreeMap::new();
    for (word, count) in ranked {
        let number: f64 = format!("{}.{}", count, word.len()).parse().unwrap();
        index.insert(Key((number * 1000.0) as u64), word.clone());
    }
    index
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key(u64);

fn main() {
    let mut seed = 42;
    let mut total = 0;
    for _ in 0..20 {
        let text = text(&mut seed, 4000);
        let ranked = rank(count(&text));
        total += index(&ranked).len() + ranked.len();
    }
    println!("words: {total}");
}
