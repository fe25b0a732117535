;; SPDX-License-Identifier: GPL-2.0-only
;; What module.cwasm is compiled from. One name is as rustc writes it.
(module
  (memory (export "memory") 1)
  (func $fib (export "fib") (param $n i32) (result i32)
    (if (result i32) (i32.lt_u (local.get $n) (i32.const 2))
      (then (local.get $n))
      (else (i32.add (call $fib (i32.sub (local.get $n) (i32.const 1)))
                     (call $fib (i32.sub (local.get $n) (i32.const 2)))))))
  (func $collatz (export "collatz") (param $n i64) (result i32)
    (local $steps i32)
    (block $done
      (loop $next
        (br_if $done (i64.le_u (local.get $n) (i64.const 1)))
        (local.set $n
          (if (result i64) (i32.wrap_i64 (i64.and (local.get $n) (i64.const 1)))
            (then (i64.add (i64.mul (local.get $n) (i64.const 3)) (i64.const 1)))
            (else (i64.shr_u (local.get $n) (i64.const 1)))))
        (local.set $steps (i32.add (local.get $steps) (i32.const 1)))
        (br $next)))
    (local.get $steps))
  (func $_ZN5guest4hash5round17h0123456789abcdefE (export "hash") (param $x i64) (result i64)
    (local $i i32)
    (loop $next
      (local.set $x (i64.xor (local.get $x) (i64.shl (local.get $x) (i64.const 13))))
      (local.set $x (i64.xor (local.get $x) (i64.shr_u (local.get $x) (i64.const 7))))
      (local.set $x (i64.xor (local.get $x) (i64.shl (local.get $x) (i64.const 17))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const 1000))))
    (local.get $x))
  (func (export "run") (param $n i32) (result i32)
    (i32.add (call $fib (local.get $n))
      (i32.add (call $collatz (i64.extend_i32_u (local.get $n)))
        (i32.wrap_i64 (call $_ZN5guest4hash5round17h0123456789abcdefE (i64.extend_i32_u (local.get $n))))))))
