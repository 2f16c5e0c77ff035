package import MLFeatures

/// The labels of the classes that a classifier learns, in the order of the classes' indices, and the index of each.
package struct ClassLabels: Sendable {
    /// The labels, strings or integers.
    package private(set) var list: LabelList
    private var strings: [String: Int] = [:]
    private var integers: [Int64: Int] = [:]

    /// Takes labels in their order; among equal labels the first has the index.
    package init(_ list: LabelList) {
        self.list = list
        switch list {
        case .strings(let labels): strings = Dictionary(zip(labels, 0...), uniquingKeysWith: { first, _ in first })
        case .integers(let labels): integers = Dictionary(zip(labels, 0...), uniquingKeysWith: { first, _ in first })
        }
    }

    /// The different labels, in alphabetical order.
    package init(sorting labels: [String]) { self.init(.strings(Set(labels).sorted())) }

    /// The different labels, ascending.
    package init(sorting labels: [Int64]) { self.init(.integers(Set(labels).sorted())) }

    package var count: Int { list.count }

    /// The labels as text.
    package var texts: [String] {
        switch list {
        case .strings(let labels): labels
        case .integers(let labels): labels.map { String($0) }
        }
    }

    /// The index of a label; `nil` when there is no such class.
    package func index(of label: String) -> Int? { strings[label] }

    /// The index of a label; `nil` when there is no such class.
    package func index(of label: Int64) -> Int? { integers[label] }

    /// Adds a label at the end unless it is there.
    ///
    /// - Precondition: The labels are strings.
    /// - Returns: The label's index.
    @discardableResult
    package mutating func insert(_ label: String) -> Int {
        if let index = strings[label] { return index }
        guard case .strings(var labels) = list else { preconditionFailure("a string among labels that are integers") }
        list = .strings([])  // so that the labels are not copied
        strings[label] = labels.count
        labels.append(label)
        list = .strings(labels)
        return labels.count - 1
    }
}
