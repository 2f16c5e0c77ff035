package import MLFiles
package import MLSpecification

/// A model's interface in the page's format.
package enum PageModel {
    /// A feature with everything that its editor or view needs.
    ///
    /// - Parameters:
    ///   - feature: The feature.
    ///   - text: The type of the feature as text.
    ///   - plan: The chosen kind of preview.
    ///   - ranges: The plausible values of plain inputs.
    /// - Returns: The feature as a JSON object.
    package static func feature(
        _ feature: SpecFeatureDescription,
        text: String,
        _ plan: PreviewPlan,
        _ ranges: InputRanges?
    ) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(feature.name)), .init("text", .string(text)),
            .init("description", .string(feature.shortDescription)), .init("optional", .bool(feature.type.isOptional)),
        ]
        if let role = plan.roles.first(where: { $0.value == feature.name })?.key {
            members.append(.init("role", .string(role.rawValue)))
        }
        members += type(feature)
        if let range = ranges?.numbers[feature.name] {
            members.append(.init("range", .array([.number(range.lowerBound), .number(range.upperBound)])))
        }
        if let texts = ranges?.texts[feature.name] {
            members.append(.init("choices", .array(texts.map { .string($0) })))
        }
        if let integers = ranges?.integers[feature.name] {
            members.append(.init("choices", .array(integers.map { .integer($0) })))
        }
        return .object(members)
    }

    private static func type(_ feature: SpecFeatureDescription) -> [JSONValue.Member] {
        func kind(_ name: String) -> JSONValue.Member { .init("type", .string(name)) }
        switch feature.type.type {
        case .int64Type?: return [kind("integer")]
        case .doubleType?: return [kind("number")]
        case .stringType?: return [kind("string")]
        case .imageType(let image)?:
            return [
                kind("image"), .init("width", .integer(Int64(clamping: image.width))),
                .init("height", .integer(Int64(clamping: image.height))),
                .init("gray", .bool(feature.isGrayImage)), .init("flexible", .bool(image.sizeFlexibility != nil)),
            ]
        case .multiArrayType(let array)?: return [kind("array")] + shape(array)
        case .dictionaryType(let type)?:
            if case .int64KeyType? = type.keyType { return [kind("dictionary"), .init("keys", .string("integer"))] }
            return [kind("dictionary"), .init("keys", .string("string"))]
        case .sequenceType(let type)?:
            if case .int64Type? = type.type { return [kind("sequence"), .init("elements", .string("integer"))] }
            return [kind("sequence"), .init("elements", .string("string"))]
        case .stateType(let state)?: return [kind("state")] + shape(state.arrayType)
        case nil: return [kind("unknown")]
        }
    }

    private static func shape(_ array: SpecArrayFeatureType) -> [JSONValue.Member] {
        let scalar =
            switch array.dataType {
            case .int32: "int32"
            case .int8: "int8"
            case .double: "float64"
            case .float16: "float16"
            default: "float32"
            }
        var members: [JSONValue.Member] = [
            .init("shape", .array(UsageLines.sampleShape(array).map { .integer(Int64($0)) })),
            .init("scalar", .string(scalar)),
            .init("flexible", .bool(array.shapeFlexibility != nil)),
        ]
        if case .enumeratedShapes(let all)? = array.shapeFlexibility {
            members.append(.init("shapes", .array(all.shapes.map { .array($0.shape.map { .integer($0) }) })))
        }
        return members
    }
}
