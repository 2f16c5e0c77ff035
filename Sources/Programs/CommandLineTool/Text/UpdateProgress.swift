import Foundation
import MLUpdating

/// Shows the progress of `coreml update`: a bar on a terminal, a line per epoch elsewhere, or JSON.
final class UpdateProgress {
    private let json: Bool
    private let isTerminal = isatty(2) != 0
    private var lastShown = ContinuousClock.now
    private var loss: Double?
    private var isOpen = false

    init(json: Bool) { self.json = json }

    /// Shows where an update continues from a checkpoint.
    func resumed(_ position: UpdatePosition) {
        guard position.hasBegun, !json else { return }
        note("continuing in epoch \(position.epoch + 1), after \(position.exampleIndex) examples")
    }

    func show(_ event: UpdateSession.Event, _ session: UpdateSession) {
        switch event {
        case .trainingBegin: break
        case .miniBatchEnd(_, _, let loss):
            self.loss = loss
            if isTerminal, !json, ContinuousClock.now - lastShown > .milliseconds(100) { draw(session) }
        case .epochEnd(let epoch, let loss):
            self.loss = loss
            if json {
                FileHandle.standardOutput.write(Data(#"{"epoch": \#(epoch), "loss": \#(loss)}\#n"#.utf8))
            } else if isTerminal {
                draw(session)
            } else {
                note("epoch \(epoch + 1): loss \(format(loss))")
            }
        }
    }

    private func draw(_ session: UpdateSession) {
        lastShown = .now
        let width = 30
        let done = Int(session.fraction * Double(width))
        let bar = String(repeating: "█", count: done) + String(repeating: "░", count: width - done)
        let text = loss.map { "  loss \(format($0))" } ?? ""
        let epochs = session.parameters.integer(.epochs) ?? 1
        let epoch = min(session.position.epoch + 1, epochs)
        FileHandle.standardError.write(Data("\r\(bar) epoch \(epoch) of \(epochs)\(text)\u{1B}[K".utf8))
        isOpen = true
    }

    /// Ends the line of the progress bar.
    func close() {
        if isOpen { FileHandle.standardError.write(Data("\n".utf8)) }
        isOpen = false
    }

    func finished(_ path: String, examples: Int, seconds: Double) {
        if json {
            var object: [String: Any] = ["model": path, "examples": examples, "seconds": seconds]
            if let loss { object["loss"] = loss }
            print((try? JSONFeature.text(object)) ?? "{}")
        } else {
            print("\(path): trained on \(examples) examples in \(String(format: "%.1f", seconds)) s")
        }
    }

    private func note(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

    private func format(_ loss: Double) -> String { String(format: "%.4f", loss) }
}
