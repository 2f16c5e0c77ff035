import MLTreeTraining

/// The parameters of a random forest, for the classifier or the regressor `Task`.
public struct MLRandomForestParameters<Task>: MLTabularParameters {
    /// The rows that the model is validated on during and after training.
    public var validation: ValidationData
    var trees: TreeSettings

    /// The maximum depth of a tree in levels of splits, 1 to 24; 6 by default.
    public var maxDepth: Int {
        get { trees.growing.maxDepth }
        set { trees.growing.maxDepth = newValue }
    }
    /// The number of trees, at least 1; 10 by default.
    ///
    /// With more than two classes it is the number of trees for each class.
    public var maxIterations: Int {
        get { trees.maxIterations }
        set { trees.maxIterations = newValue }
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
    /// The seed of row and column sampling, 42 by default; equal seeds give equal trees.
    public var randomSeed: Int {
        get { trees.randomSeed }
        set { trees.randomSeed = newValue }
    }
    /// The fraction of the rows sampled, without replacement, for each tree, above 0 and at most 1; 0.8 by default.
    public var rowSubsample: Double {
        get { trees.growing.rowSubsample }
        set { trees.growing.rowSubsample = newValue }
    }
    /// The fraction of the columns sampled, without replacement, for each tree, above 0 and at most 1; 0.8 by default.
    public var columnSubsample: Double {
        get { trees.growing.columnSubsample }
        set { trees.growing.columnSubsample = newValue }
    }

    /// Creates training parameters; see the properties of the same names.
    ///
    /// Training throws an error if a value is out of its range.
    public init(
        validation: ValidationData = .split(strategy: .automatic),
        maxDepth: Int = 6,
        maxIterations: Int = 10,
        minLossReduction: Double = 0,
        minChildWeight: Double = 0.1,
        randomSeed: Int = 42,
        rowSubsample: Double = 0.8,
        columnSubsample: Double = 0.8
    ) {
        self.init(Self.standard, validation)
        self.maxDepth = maxDepth
        self.maxIterations = maxIterations
        self.minLossReduction = minLossReduction
        self.minChildWeight = minChildWeight
        self.randomSeed = randomSeed
        self.rowSubsample = rowSubsample
        self.columnSubsample = columnSubsample
    }

    /// Creates training parameters with a table of validation rows; see the properties of the same names.
    ///
    /// Without a table (`nil`) the automatic split of the training data is used.
    public init(
        validationData: MLDataTable?,
        maxDepth: Int = 6,
        maxIterations: Int = 10,
        minLossReduction: Double = 0,
        minChildWeight: Double = 0.1,
        randomSeed: Int = 42,
        rowSubsample: Double = 0.8,
        columnSubsample: Double = 0.8
    ) {
        self.init(
            validation: ValidationData(validationData),
            maxDepth: maxDepth,
            maxIterations: maxIterations,
            minLossReduction: minLossReduction,
            minChildWeight: minChildWeight,
            randomSeed: randomSeed,
            rowSubsample: rowSubsample,
            columnSubsample: columnSubsample
        )
    }
}

extension MLRandomForestParameters: TreeParameters {
    static var kind: TreeSettings.Kind { .randomForest }

    init(trees: TreeSettings, validation: ValidationData) {
        self.trees = trees
        self.validation = validation
    }
}
