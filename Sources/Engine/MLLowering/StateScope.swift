import MLGraph
import MLNumerics

/// The states of a function while it is read, and their contents at the current point of the program.
///
/// A graph has no states: reading one returns the value that was last stored, and the final contents are an output of
/// the graph. Blocks that write states carry the contents as inputs and outputs.
struct StateScope {
    struct Entry {
        let name: String
        /// The declared type, of kind `.state`.
        let type: ValueType
        /// The index among the graph's inputs.
        let position: Int
        /// The input with the state's contents before the run.
        let initial: ValueID
        var contents: ValueID
    }

    /// The states in the order of the function's inputs.
    private(set) var entries: [Entry] = []

    mutating func declare(_ name: String, _ type: ValueType, contents: ValueID, at position: Int) {
        entries.append(Entry(name: name, type: type, position: position, initial: contents, contents: contents))
    }

    func has(_ name: String) -> Bool { entries.contains { $0.name == name } }
    func type(_ name: String) -> ValueType? { entries.first { $0.name == name }?.type }
    func contents(_ name: String) -> ValueID? { entries.first { $0.name == name }?.contents }

    mutating func store(_ value: ValueID, in name: String) {
        guard let index = entries.firstIndex(where: { $0.name == name }) else { return }
        entries[index].contents = value
    }
}
