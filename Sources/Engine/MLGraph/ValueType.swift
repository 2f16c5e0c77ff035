package import MLNumerics

/// The static type of a value: its kind, its scalar type and its extents.
///
/// The rank is always known; extents may be unknown (see `Dimension`).
package struct ValueType: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case tensor
        /// A MIL list; `shape` is that of one element, preceded by the length.
        case list
        /// A buffer that outlives a prediction; `scalarType` and `shape` are those of its contents.
        case state
        /// A dictionary from class label to probability, as `classify` produces it.
        case dictionary
    }

    package var kind: Kind
    package var scalarType: ScalarType
    package var shape: Shape

    package init(_ scalarType: ScalarType, _ shape: Shape, kind: Kind = .tensor) {
        self.kind = kind
        self.scalarType = scalarType
        self.shape = shape
    }

    package var rank: Int { shape.count }

    /// True when every extent is a number.
    package var isBound: Bool { shape.allSatisfy(\.isKnown) }

    /// Throws when an extent is negative or the known ones make a tensor larger than the machine's memory, so that
    /// later products of extents do not overflow.
    package func requireStorable() throws(ModelError) {
        try MemoryLimit.require(shape.compactMap(\.count), bitWidth: Swift.max(scalarType.bitWidth, 8))
    }

    /// The tensor that a state holds.
    package var contents: ValueType { ValueType(scalarType, shape) }

    package func with(_ scalarType: ScalarType) -> ValueType { ValueType(scalarType, shape, kind: kind) }
    package func with(_ shape: Shape) -> ValueType { ValueType(scalarType, shape, kind: kind) }

    package var description: String {
        let body = "\(scalarType.milName), [\(shape.map(\.description).joined(separator: ", "))]"
        switch kind {
        case .tensor: return "tensor<\(body)>"
        case .list: return "list<\(body)>"
        case .state: return "state<tensor<\(body)>>"
        case .dictionary: return "dict<\(body)>"
        }
    }
}
