/// Looks for indices out of range.
package enum IndexCheck {
    /// The first of `count` indices that is outside 0 ..< `extent`; `nil` when all are inside.
    package static func firstOutOfRange(_ indices: UnsafePointer<Int32>, count: Int, extent: Int) -> Int? {
        for index in 0..<count where !(0..<extent).contains(Int(indices[index])) { return Int(indices[index]) }
        return nil
    }
}
