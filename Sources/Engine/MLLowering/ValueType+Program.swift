import MLFiles
package import MLGraph
package import MLNumerics
package import MLSpecification

extension ValueType {
    /// The type that a program declares.
    package init(_ type: MILValueType) throws(ModelError) {
        switch type.type {
        case .tensorType(let tensor)?: self = try ValueType(tensor)
        case .listType(let list)?:
            let element = try ValueType(list.type)
            self = ValueType(element.scalarType, [Dimension(list.length)] + element.shape, kind: .list)
        case .stateType(let state)?:
            let wrapped = try ValueType(state.wrappedType)
            self = ValueType(wrapped.scalarType, wrapped.shape, kind: .state)
        case .dictionaryType(let dictionary)?:
            let key = try ValueType(dictionary.keyType)
            self = ValueType(key.scalarType, [.unknown], kind: .dictionary)
        case .tupleType?: throw ModelError(.unsupported, "values of tuple type are not supported")
        case nil: throw ModelError(.malformed, "a value has no type")
        }
    }

    private init(_ tensor: MILTensorType) throws(ModelError) {
        self.init(try ModelFile.scalarType(of: tensor), tensor.dimensions.map { Dimension($0) })
    }
}

extension Dimension {
    fileprivate init(_ dimension: MILDimension) {
        if case .constant(let constant)? = dimension.dimension, let count = Int(exactly: constant.size) {
            self.init(count)
        } else {
            self = .unknown
        }
    }
}
