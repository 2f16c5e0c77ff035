package import MLNumerics
package import MLSpecification

extension SpecInt64Parameter {
    /// Returns `value`, or the default for `nil`, when the parameter's range or set allows it.
    package func value(_ value: Int64?, for name: String) throws(ModelError) -> Int64 {
        let code: ModelError.Code = value == nil ? .invalidModel : .parameter
        let chosen = value ?? defaultValue
        switch allowedValues {
        case .range(let range)?:
            guard range.minValue <= chosen, chosen <= range.maxValue else {
                throw ModelError(
                    code,
                    "\(name) is \(chosen), but the model allows \(range.minValue) … \(range.maxValue)"
                )
            }
        case .set(let set)?:
            guard set.values.contains(chosen) else {
                let values = set.values.map(String.init).joined(separator: ", ")
                throw ModelError(code, "\(name) is \(chosen), but the model allows \(values)")
            }
        case nil: break
        }
        return chosen
    }
}
