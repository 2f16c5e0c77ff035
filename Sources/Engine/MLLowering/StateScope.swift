import MLGraph
import MLNumerics

/// The states of a function while it is read, and what each contains at the present point of the program.
///
/// A graph knows no states: reading one gives the value that was stored last, and what is stored at the end leaves the
/// graph as an output.  Blocks that store carry the contents in and out as values of their own.
struct StateScope {
    struct Entry {
        let name: String
        /// The declared type, of kind `.state`.
        let type: ValueType
        /// The place among the graph's inputs.
        let place: Int
        /// The input that holds what the state contains before the run.
        let initial: ValueID
        var contents: ValueID
    }

    /// In the order of the function's inputs.
    private(set) var entries: [Entry] = []

    mutating func declare(_ name: String, _ type: ValueType, contents: ValueID, at place: Int) {
        entries.append(Entry(name: name, type: type, place: place, initial: contents, contents: contents))
    }

    func has(_ name: String) -> Bool { entries.contains { $0.name == name } }
    func type(_ name: String) -> ValueType? { entries.first { $0.name == name }?.type }
    func contents(_ name: String) -> ValueID? { entries.first { $0.name == name }?.contents }

    mutating func store(_ value: ValueID, in name: String) {
        guard let index = entries.firstIndex(where: { $0.name == name }) else { return }
        entries[index].contents = value
    }
}
