import MLTreeTraining

/// The parameters of a decision tree, for the classifier or the regressor `Task`.
public struct MLDecisionTreeParameters<Task>: MLTabularParameters {
    /// The rows that the model is validated on during and after training.
    public var validation: ValidationData
    var trees: TreeSettings

    /// The maximum depth of a tree in levels of splits, 1 to 24; 6 by default.
    public var maxDepth: Int {
        get { trees.growing.maxDepth }
        set { trees.growing.maxDepth = newValue }
    }
    /// The minimum loss reduction (gamma) of a split, at least 0; 0 by default.
    ///
    /// Grown trees are pruned from the leaves up: a split that reduces the loss by less is removed.
    public var minLossReduction: Double {
        get { trees.growing.minLossReduction }
        set { trees.growing.minLossReduction = newValue }
    }
    /// The minimum child weight, at least 0; 0.1 by default.
    ///
    /// It is the least sum of second derivatives of the loss (the Hessian) on either side of a split.
    public var minChildWeight: Double {
        get { trees.growing.minChildWeight }
        set { trees.growing.minChildWeight = newValue }
    }
    /// A seed without effect, as a single tree uses all rows and columns; 42 by default.
    public var randomSeed: Int {
        get { trees.randomSeed }
        set { trees.randomSeed = newValue }
    }

    /// Creates training parameters; see the properties of the same names.
    ///
    /// Training throws an error if a value is out of its range.
    public init(
        validation: ValidationData = .split(strategy: .automatic),
        maxDepth: Int = 6,
        minLossReduction: Double = 0,
        minChildWeight: Double = 0.1,
        randomSeed: Int = 42
    ) {
        self.init(Self.standard, validation)
        self.maxDepth = maxDepth
        self.minLossReduction = minLossReduction
        self.minChildWeight = minChildWeight
        self.randomSeed = randomSeed
    }

    /// Creates training parameters with a table of validation rows; see the properties of the same names.
    ///
    /// Without a table (`nil`) the automatic split of the training data is used.
    public init(
        validationData: MLDataTable?,
        maxDepth: Int = 6,
        minLossReduction: Double = 0,
        minChildWeight: Double = 0.1,
        randomSeed: Int = 42
    ) {
        self.init(
            validation: ValidationData(validationData),
            maxDepth: maxDepth,
            minLossReduction: minLossReduction,
            minChildWeight: minChildWeight,
            randomSeed: randomSeed
        )
    }
}

extension MLDecisionTreeParameters: TreeParameters {
    static var kind: TreeSettings.Kind { .decisionTree }

    init(trees: TreeSettings, validation: ValidationData) {
        self.trees = trees
        self.validation = validation
    }
}
