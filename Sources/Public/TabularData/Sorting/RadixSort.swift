/// Returns the rows of `selection` sorted by several keys, the first of which takes precedence.
///
/// Rows with equal keys keep their order. The keys are consumed.
func sortedRows(_ selection: RowSelection, by keys: consuming [SortKeys], order: Order) -> PlainBuffer<UInt32> {
    // Combine as many keys as fit into one word.
    var packed: [SortKeys] = []
    for key in keys {
        if let last = packed.last, last.bits + key.bits <= 64 {
            let (high, low) = (last.keys.values, key.keys.values)
            for i in 0..<last.keys.count { high[i] = high[i] << UInt64(key.bits) | low[i] }
            withExtendedLifetime((last, key)) {}
            packed[packed.count - 1].bits += key.bits
        } else {
            packed.append(key)
        }
    }
    if order == .descending {
        for key in packed {
            let mask: UInt64 = key.bits == 64 ? .max : (1 << UInt64(key.bits)) - 1
            let words = key.keys.values
            for i in 0..<key.keys.count { words[i] = ~words[i] & mask }
            withExtendedLifetime(key) {}
        }
    }
    // The last first: each sort leaves equal ones in the order of the sort before.
    var positions: PlainBuffer<UInt32>?
    for key in packed.reversed() {
        if let before = positions {
            let next = sortedIndices(key.keys.gathered(before.elements.span))
            next.replaceEach { before.values[Int($0)] }
            withExtendedLifetime(before) {}
            positions = next
        } else {
            positions = sortedIndices(key.keys)
        }
    }
    guard let rows = positions else { return PlainBuffer(capacity: 0) }
    switch selection {
    case .range(let range):
        let first = UInt32(range.lowerBound)
        if first > 0 { rows.replaceEach { first &+ $0 } }
    case .rows(let list):
        let list = list.span
        rows.replaceEach { list[unchecked: Int($0)] }
    }
    return rows
}

/// Returns the positions of `keys` in ascending order of the keys, which are overwritten.
///
/// Positions of equal keys ascend. The items that are sorted are one word for each position: the highest bits in which
/// keys differ, above the bits of the position.
private func sortedIndices(_ keys: PlainBuffer<UInt64>) -> PlainBuffer<UInt32> {
    let count = keys.count
    let words = keys.values
    var difference: UInt64 = 0
    var isSorted = true
    for i in 1..<Swift.max(count, 1) {
        difference |= words[i] ^ words[0]
        isSorted = isSorted && words[i &- 1] <= words[i]
    }
    let positions = PlainBuffer<UInt32>(count: count)
    if isSorted {
        for i in 0..<count { positions.values[i] = UInt32(truncatingIfNeeded: i) }
        return positions
    }
    let placeBits = 64 - UInt64(count - 1).leadingZeroBitCount
    let unused = difference.leadingZeroBitCount
    let width = 64 - unused - difference.trailingZeroBitCount
    let kept = Swift.min(width, 64 - placeBits)
    let isExact = kept == width
    let items = isExact ? keys : PlainBuffer<UInt64>(count: count)
    for i in 0..<count {
        let prefix = (words[i] &<< UInt64(unused)) &>> UInt64(64 - kept)
        items.values[i] = prefix &<< UInt64(placeBits) | UInt64(truncatingIfNeeded: i)
    }
    radixSort(items, UInt64(placeBits), kept)
    let mask: UInt64 = 1 &<< UInt64(placeBits) &- 1
    if !isExact {
        // The lower bits decide where the higher ones are equal.
        forEachRun(items.values, count, UInt64(placeBits)) { run, length in
            func position(_ i: Int) -> Int { Int(truncatingIfNeeded: run[i] & mask) }
            if length <= 32 {
                insertionSort(run, length) { words[Int(truncatingIfNeeded: $0 & mask)] }
                return
            }
            let ties = PlainBuffer<UInt64>(count: length)
            for i in 0..<length { ties.values[i] = words[position(i)] }
            let order = sortedIndices(ties)
            for i in 0..<length { ties.values[i] = run[Int(order.values[i])] }
            run.update(from: ties.values, count: length)
            withExtendedLifetime((ties, order)) {}
        }
    }
    for i in 0..<count { positions.values[i] = UInt32(truncatingIfNeeded: items.values[i] & mask) }
    withExtendedLifetime((keys, items)) {}
    return positions
}

/// Sorts `items`, whose lowest `firstBit` bits ascend already, by the `bits` bits above those.
private func radixSort(_ items: PlainBuffer<UInt64>, _ firstBit: UInt64, _ bits: Int) {
    let other = PlainBuffer<UInt64>(count: items.count)
    radixSort(items.values, other.values, items.count, firstBit, bits)
    withExtendedLifetime((items, other)) {}
}

private func radixSort(
    _ items: UnsafeMutablePointer<UInt64>,
    _ other: UnsafeMutablePointer<UInt64>,
    _ count: Int,
    _ firstBit: UInt64,
    _ bits: Int
) {
    if count < 1024 {
        var all = UnsafeMutableBufferPointer(start: items, count: count)
        all.sort()
        return
    }
    // Three digits tell nearly all keys apart; runs of equal ones are sorted after.
    let passes = Swift.min((bits + 10) / 11, 3)
    let digit = Swift.min((bits + passes - 1) / passes, 11)
    let rest = Swift.max(bits - passes * digit, 0)
    let size = 1 << digit
    let mask = UInt64(size - 1)
    var starts = [UInt32](repeating: 0, count: passes * size)
    var (source, target) = (items, other)
    starts.withUnsafeMutableBufferPointer { starts in
        guard let base = starts.baseAddress else { return }
        let bottom = firstBit + UInt64(rest)
        for i in 0..<count {
            var word = items[i] &>> bottom
            for pass in 0..<passes {
                starts[pass &* size &+ Int(truncatingIfNeeded: word & mask)] &+= 1
                word = word &>> UInt64(digit)
            }
        }
        for pass in 0..<passes {
            let next = base + pass * size
            var sum: UInt32 = 0
            for bucket in 0..<size {
                let length = next[bucket]
                next[bucket] = sum
                sum += length
            }
            let shift = bottom + UInt64(pass * digit)
            for i in 0..<count {
                let item = source[i]
                let bucket = Int(truncatingIfNeeded: item &>> shift & mask)
                target[Int(next[bucket])] = item
                next[bucket] &+= 1
            }
            swap(&source, &target)
        }
    }
    if source != items { items.update(from: source, count: count) }
    if rest == 0 { return }
    forEachRun(items, count, firstBit + UInt64(rest)) { run, length in
        if length <= 32 {
            insertionSort(run, length) { $0 }
        } else {
            radixSort(run, other, length, firstBit, rest)
        }
    }
}

/// Calls `body` for each run of at least two items that are equal except for their lowest `bits` bits.
@inline(__always)
private func forEachRun(
    _ items: UnsafeMutablePointer<UInt64>,
    _ count: Int,
    _ bits: UInt64,
    _ body: (UnsafeMutablePointer<UInt64>, Int) -> Void
) {
    var start = 0
    while start < count {
        let prefix = items[start] &>> bits
        var end = start &+ 1
        while end < count, items[end] &>> bits == prefix { end &+= 1 }
        if end &- start > 1 { body(items + start, end &- start) }
        start = end
    }
}

/// Sorts items by `key`; those with equal keys keep their order.
@inline(__always)
private func insertionSort(_ items: UnsafeMutablePointer<UInt64>, _ count: Int, by key: (UInt64) -> UInt64) {
    for i in 1..<count {
        let item = items[i]
        let own = key(item)
        var j = i
        while j > 0, key(items[j &- 1]) > own {
            items[j] = items[j &- 1]
            j &-= 1
        }
        items[j] = item
    }
}
