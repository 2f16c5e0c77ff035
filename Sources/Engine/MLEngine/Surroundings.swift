package import MLFeatures
package import MLNumerics
package import MLOperators
package import MLSpecification

/// Makes the engines of custom models, whose classes are the app's.
package protocol CustomModelSource: Sendable {
    func engine(for model: SpecModel) throws(ModelError) -> any ModelEngine
}

/// What an app adds to a model file while it is loaded.
package struct Surroundings: Sendable {
    /// A value for a parameter of a model, or of the part of it that `scope` names.
    package struct Parameter: Sendable {
        package enum Value: Sendable {
            case numberOfNeighbors(Int64)
            case linkedModelFileName(String)
            case linkedModelSearchPath(String)
        }

        package var value: Value
        /// The name of a model in a pipeline; `nil` for every model that has the parameter.
        package var scope: String?

        package init(_ value: Value, scope: String? = nil) {
            self.value = value
            self.scope = scope
        }
    }

    package var parameters: [Parameter]
    /// The operators, with what the app adds to them.
    package var catalogue: Catalogue
    package var customModels: (any CustomModelSource)?

    package init(
        parameters: [Parameter] = [],
        catalogue: Catalogue = .standard,
        customModels: (any CustomModelSource)? = nil
    ) {
        self.parameters = parameters
        self.catalogue = catalogue
        self.customModels = customModels
    }

    /// The values for the model that a pipeline calls `name`, the scoped ones last.
    func values(for name: String?) -> [Parameter.Value] {
        parameters.filter { $0.scope == nil }.map(\.value)
            + parameters.filter { $0.scope != nil && $0.scope == name }.map(\.value)
    }
}
