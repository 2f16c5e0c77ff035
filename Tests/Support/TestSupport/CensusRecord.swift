import Foundation
package import MLGraph
import MLNumerics
import Synchronization

/// The facts about each operator from the tests of one process; the census turns them into a document.
///
/// `COREML_CENSUS_RECORD` names the file; without it nothing is written. A line is an operator, the kind of fact
/// (`types`, `kernel`, `layer`, `gradient`, `tests`) and the fact, separated by tabs.
package final class CensusRecord: Sendable {
    package static let shared = ProcessInfo.processInfo.environment["COREML_CENSUS_RECORD"].flatMap(CensusRecord.init)

    private let file: Mutex<(handle: FileHandle, known: Set<String>)>

    private init?(path: String) {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else { return nil }
        file = Mutex((handle, []))
    }

    /// Notes that `op` was asked a problem of `test` with operands of `types`.
    func note(_ op: any Operator, types: [ScalarType], test: String) {
        for type in types { write(op, "types", type.milName) }
        write(op, "tests", test)
    }

    /// Notes that a kernel of `op` ran.
    func note(_ op: any Operator, kernel: String) { write(op, "kernel", kernel) }

    /// Notes that the gradient of `op` agrees with differences.
    package func noteGradient(_ op: any Operator) { write(op, "gradient", "yes") }

    /// Notes that the rule of `layer`, which `type` declares, gives what is expected.
    package func note(layer: String, of type: any Operator.Type) { write(type, "layer", layer) }

    /// Notes that `test` tries `op` in a way of its own: operators with bodies, states or random results.
    package func note(_ op: any Operator, test: String = #fileID) { write(op, "tests", test) }

    private func write(_ op: any Operator, _ kind: String, _ fact: String) { write(type(of: op), kind, fact) }

    private func write(_ type: any Operator.Type, _ kind: String, _ fact: String) {
        let line = "\(type)\t\(kind)\t\(fact)\n"
        file.withLock { file in
            guard file.known.insert(line).inserted else { return }
            file.handle.write(Data(line.utf8))
        }
    }
}
