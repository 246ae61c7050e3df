;; Finds the places in texts where an anchor can begin, 16 places at once. `anchor-places.ts` fills the tables.
;;
;; memory      0  the texts, one after another
;;        36,864  of each of four characters: the groups of anchors that have it, a bit for each group, by the low half of
;;                the character (16 bytes) and by the high half (16 bytes)
;;        40,960  2 if an anchor begins with three characters that have this hash, or else 0 (16,384 bytes)
;;        65,536  blocks of 16 places that have candidates: the first place, and a bit for each place (4 bytes)
;;        81,920  the places that were found (2 bytes)
(module
  (memory (export "memory") 3)
  ;; Returns the number of places. They can be beyond the length.
  (func (export "find") (param $length i32) (result i32)
    (local $at i32) (local $bits i32) (local $block i32) (local $blocks i32) (local $place i32) (local $places i32)
    (local $text v128) (local $groups v128) (local $half v128)
    (local $low0 v128) (local $low1 v128) (local $low2 v128) (local $low3 v128)
    (local $high0 v128) (local $high1 v128) (local $high2 v128) (local $high3 v128)
    (local.set $low0 (v128.load offset=36864 (i32.const 0)))
    (local.set $high0 (v128.load offset=36880 (i32.const 0)))
    (local.set $low1 (v128.load offset=36896 (i32.const 0)))
    (local.set $high1 (v128.load offset=36912 (i32.const 0)))
    (local.set $low2 (v128.load offset=36928 (i32.const 0)))
    (local.set $high2 (v128.load offset=36944 (i32.const 0)))
    (local.set $low3 (v128.load offset=36960 (i32.const 0)))
    (local.set $high3 (v128.load offset=36976 (i32.const 0)))
    (local.set $half (i8x16.splat (i32.const 15)))
    (local.set $blocks (i32.const 65536))
    ;; 1. The groups that have the four characters at a place, for each of 16 places. A half is below 16, so that every swizzle is exact.
    (loop $sixteen
      (local.set $text (v128.load (local.get $at)))
      (local.set $groups (v128.and
        (i8x16.relaxed_swizzle (local.get $low0) (v128.and (local.get $text) (local.get $half)))
        (i8x16.relaxed_swizzle (local.get $high0) (i8x16.shr_u (local.get $text) (i32.const 4)))))
      (local.set $text (v128.load offset=1 (local.get $at)))
      (local.set $groups (v128.and (local.get $groups) (v128.and
        (i8x16.relaxed_swizzle (local.get $low1) (v128.and (local.get $text) (local.get $half)))
        (i8x16.relaxed_swizzle (local.get $high1) (i8x16.shr_u (local.get $text) (i32.const 4))))))
      (local.set $text (v128.load offset=2 (local.get $at)))
      (local.set $groups (v128.and (local.get $groups) (v128.and
        (i8x16.relaxed_swizzle (local.get $low2) (v128.and (local.get $text) (local.get $half)))
        (i8x16.relaxed_swizzle (local.get $high2) (i8x16.shr_u (local.get $text) (i32.const 4))))))
      (local.set $text (v128.load offset=3 (local.get $at)))
      (local.set $groups (v128.and (local.get $groups) (v128.and
        (i8x16.relaxed_swizzle (local.get $low3) (v128.and (local.get $text) (local.get $half)))
        (i8x16.relaxed_swizzle (local.get $high3) (i8x16.shr_u (local.get $text) (i32.const 4))))))
      ;; The block is always stored, and overwritten if no place is a candidate: a branch that is taken at random is slower.
      (local.set $bits (i8x16.bitmask (i8x16.ne (local.get $groups) (v128.const i64x2 0 0))))
      (i32.store (local.get $blocks) (i32.or (i32.shl (local.get $at) (i32.const 16)) (local.get $bits)))
      (local.set $blocks
        (i32.add (local.get $blocks) (i32.shl (i32.ne (local.get $bits) (i32.const 0)) (i32.const 2))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $sixteen (i32.lt_u (local.get $at) (local.get $length))))
    ;; 2. Of the candidates, those whose first three characters are those of an anchor, by their hash.
    (local.set $block (i32.const 65536))
    (local.set $places (i32.const 81920))
    (block $done
      (loop $candidates
        (br_if $done (i32.ge_u (local.get $block) (local.get $blocks)))
        (local.set $bits (i32.load16_u (local.get $block)))
        (local.set $at (i32.load16_u offset=2 (local.get $block)))
        (loop $each
          (local.set $place (i32.add (local.get $at) (i32.ctz (local.get $bits))))
          (i32.store16 (local.get $places) (local.get $place))
          (local.set $places (i32.add (local.get $places) (i32.load8_u offset=40960
            (i32.shr_u
              (i32.mul (i32.shl (i32.load (local.get $place)) (i32.const 8)) (i32.const 0x9E3779B1))
              (i32.const 18)))))
          (br_if $each
            (local.tee $bits (i32.and (local.get $bits) (i32.sub (local.get $bits) (i32.const 1))))))
        (local.set $block (i32.add (local.get $block) (i32.const 4)))
        (br $candidates)))
    (i32.shr_u (i32.sub (local.get $places) (i32.const 81920)) (i32.const 1))))
