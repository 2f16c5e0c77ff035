/// The rows of `selection` in the order of several keys, the first first; equal ones stay as they were.
func sortedRows(_ selection: RowSelection, by keys: [SortKeys], order: Order) -> [UInt32] {
    var rows = selection.withRows { Array($0) }
    if rows.count < 2 { return rows }
    // As many keys together as fit one word.
    var packed: [SortKeys] = []
    for key in keys {
        if let last = packed.last, last.bits + key.bits <= 64 {
            var sum = last
            for i in sum.keys.indices { sum.keys[i] = sum.keys[i] << UInt64(key.bits) | key.keys[i] }
            sum.bits += key.bits
            packed[packed.count - 1] = sum
        } else {
            packed.append(key)
        }
    }
    if order == .descending {
        for k in packed.indices {
            let mask: UInt64 = packed[k].bits == 64 ? .max : (1 << UInt64(packed[k].bits)) - 1
            for i in packed[k].keys.indices { packed[k].keys[i] = ~packed[k].keys[i] & mask }
        }
    }
    if packed.count == 1 {
        radixSort(&packed[0].keys, &rows)
        return rows
    }
    // The last first: each sort leaves equal ones in the order of the sort before.
    var places = Array(0..<UInt32(rows.count))
    for key in packed.reversed() {
        var ordered = places.map { key.keys[Int($0)] }
        radixSort(&ordered, &places)
    }
    return places.map { rows[Int($0)] }
}

/// Sorts `keys`, and `values` along with them; equal keys stay in order.
func radixSort(_ keys: inout [UInt64], _ values: inout [UInt32]) {
    let count = keys.count
    if count < 2 { return }
    var difference: UInt64 = 0
    var isSorted = true
    for i in 1..<count {
        difference |= keys[i] ^ keys[0]
        isSorted = isSorted && keys[i - 1] <= keys[i]
    }
    if isSorted { return }
    if count < 64 {
        insertionSort(&keys, &values, 0..<count)
        return
    }
    let digit = 11
    let low = difference.trailingZeroBitCount
    let high = 64 - difference.leadingZeroBitCount
    // Three digits tell nearly all keys apart; runs of equal ones are sorted after.
    let bottom = Swift.max(low, high - 3 * digit)
    var otherKeys = [UInt64](repeating: 0, count: count)
    var otherValues = [UInt32](repeating: 0, count: count)
    var shift = bottom
    while shift < high {
        var starts = [Int](repeating: 0, count: 1 << digit)
        let mask = 1 << digit - 1
        keys.withUnsafeBufferPointer { keys in
            starts.withUnsafeMutableBufferPointer { starts in
                for i in 0..<count { starts[Int(truncatingIfNeeded: keys[i] >> UInt64(shift)) & mask] &+= 1 }
                var sum = 0
                for i in 0..<starts.count {
                    let next = sum + starts[i]
                    starts[i] = sum
                    sum = next
                }
                values.withUnsafeBufferPointer { values in
                    otherKeys.withUnsafeMutableBufferPointer { otherKeys in
                        otherValues.withUnsafeMutableBufferPointer { otherValues in
                            for i in 0..<count {
                                let key = keys[i]
                                let bucket = Int(truncatingIfNeeded: key >> UInt64(shift)) & mask
                                let place = starts[bucket]
                                starts[bucket] = place &+ 1
                                otherKeys[place] = key
                                otherValues[place] = values[i]
                            }
                        }
                    }
                }
            }
        }
        swap(&keys, &otherKeys)
        swap(&values, &otherValues)
        shift += digit
    }
    if bottom == low { return }
    var start = 0
    while start < count {
        var end = start + 1
        let prefix = keys[start] >> UInt64(bottom)
        while end < count, keys[end] >> UInt64(bottom) == prefix { end += 1 }
        if end - start > 32 {
            var partKeys = Array(keys[start..<end])
            var partValues = Array(values[start..<end])
            // The low bits alone: fewer than before.
            radixSort(&partKeys, &partValues)
            keys.replaceSubrange(start..<end, with: partKeys)
            values.replaceSubrange(start..<end, with: partValues)
        } else if end - start > 1 {
            insertionSort(&keys, &values, start..<end)
        }
        start = end
    }
}

private func insertionSort(_ keys: inout [UInt64], _ values: inout [UInt32], _ range: Range<Int>) {
    for i in range.dropFirst() {
        let key = keys[i]
        let value = values[i]
        var j = i
        while j > range.lowerBound, keys[j - 1] > key {
            keys[j] = keys[j - 1]
            values[j] = values[j - 1]
            j -= 1
        }
        keys[j] = key
        values[j] = value
    }
}
