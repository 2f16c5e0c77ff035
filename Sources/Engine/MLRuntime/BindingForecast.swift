/// The shapes of all inputs that a program is bound to, and the contents of those that bind by contents.
package struct BindingKey: Equatable, Sendable {
    package var shapes: [[Int]]
    package var contents: [[Double]]

    package init(shapes: [[Int]], contents: [[Double]]) {
        self.shapes = shapes
        self.contents = contents
    }

    /// The key that lies as far after this one as this one after `previous`; `nil` when ranks or counts differ.
    func continued(from previous: BindingKey) -> BindingKey? {
        guard shapes.count == previous.shapes.count, contents.count == previous.contents.count else { return nil }
        var next = self
        for index in shapes.indices {
            guard shapes[index].count == previous.shapes[index].count else { return nil }
            next.shapes[index] = zip(shapes[index], previous.shapes[index]).map { 2 * $0 - $1 }
        }
        for index in contents.indices {
            guard contents[index].count == previous.contents[index].count else { return nil }
            next.contents[index] = zip(contents[index], previous.contents[index]).map { 2 * $0 - $1 }
        }
        return next
    }
}

/// Predicts the next binding of an executable whose inputs change by the same amount in each run: a language model with
/// a cache that is cut at the last token has one key more for each token.
package struct BindingForecast: Sendable {
    private var last: BindingKey?
    /// The key that would follow the last two at the same distance.
    private var expected: BindingKey?

    package init() {}

    /// Records a binding.
    ///
    /// - Returns: The binding that will probably be next, when the last three are the same distance apart.
    package mutating func next(after key: BindingKey) -> BindingKey? {
        let isExpected = key == expected
        expected = last.flatMap { $0 == key ? nil : key.continued(from: $0) }
        last = key
        return isExpected ? expected : nil
    }
}
