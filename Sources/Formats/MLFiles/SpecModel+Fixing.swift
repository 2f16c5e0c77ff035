import MLSpecification

extension SpecModel {
    /// The model with the shapes of its array inputs fixed.
    func fixed(to shapes: [String: [Int]]) -> SpecModel {
        var result = self
        result.description_p.input = result.description_p.input.map { $0.fixed(to: shapes) }
        result.description_p.functions = result.description_p.functions.map { function in
            var copy = function
            copy.input = copy.input.map { $0.fixed(to: shapes) }
            return copy
        }
        guard case .mlProgram(var program)? = result.type else { return result }
        for (name, function) in program.functions {
            var copy = function
            copy.inputs = copy.inputs.map { $0.fixed(to: shapes) }
            copy.blockSpecializations = copy.blockSpecializations.mapValues { block in
                var copy = block
                copy.inputs = copy.inputs.map { $0.fixed(to: shapes) }
                return copy
            }
            program.functions[name] = copy
        }
        result.mlProgram = program
        return result
    }
}

extension SpecFeatureDescription {
    fileprivate func fixed(to shapes: [String: [Int]]) -> SpecFeatureDescription {
        guard let shape = shapes[name], case .multiArrayType(var array)? = type.type else { return self }
        var result = self
        array.shape = shape.map { Int64($0) }
        array.shapeFlexibility = nil
        result.type.multiArrayType = array
        return result
    }
}

extension MILNamedValueType {
    fileprivate func fixed(to shapes: [String: [Int]]) -> MILNamedValueType {
        guard let shape = shapes[name], case .tensorType(var tensor)? = type.type,
            tensor.dimensions.count == shape.count
        else { return self }
        var result = self
        tensor.dimensions = shape.map { extent in
            var dimension = MILDimension()
            dimension.constant.size = UInt64(extent)
            return dimension
        }
        result.type.tensorType = tensor
        return result
    }
}
