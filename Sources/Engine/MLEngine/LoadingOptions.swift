package import MLFeatures
package import MLKernels
package import MLNumerics
package import MLOperators
package import MLSpecification

/// Makes the engines of custom models, which classes of the app compute.
package protocol CustomModelSource: Sendable {
    func engine(for model: SpecModel) throws(ModelError) -> any ModelEngine
}

/// The app's additions to a model file while it is loaded.
package struct LoadingOptions: Sendable {
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
    /// The operators, including those of the app.
    package var catalogue: Catalogue
    package var customModels: (any CustomModelSource)?
    /// The kernels of the model's plans: those of one instruction set.
    package var kernels: KernelTable

    package init(
        parameters: [Parameter] = [],
        catalogue: Catalogue = .standard,
        customModels: (any CustomModelSource)? = nil,
        kernels: KernelTable = .current
    ) {
        self.parameters = parameters
        self.catalogue = catalogue
        self.customModels = customModels
        self.kernels = kernels
    }

    /// The values for the model with the name `name` in its pipeline; the scoped ones come last.
    func values(for name: String?) -> [Parameter.Value] {
        parameters.filter { $0.scope == nil }.map(\.value)
            + parameters.filter { $0.scope != nil && $0.scope == name }.map(\.value)
    }
}
