import ArgumentParser
import Foundation
import MLFiles
import MLKernels
import MLNumerics
import MLPreview

struct Preview: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Try a model in the browser.",
        discussion: """
            Examples:
              coreml preview Flowers.mlmodel --open
              coreml preview Stickers.mlmodel --save taught/
              coreml preview Bert.mlpackage --vocabulary vocab.txt --port 8080
              coreml preview GPT2.mlpackage --vocabulary gpt2/vocab.json

            Prints a link to a page on this machine, where you drop, record, draw or type the model's inputs and see its \
            outputs: classes, boxes, masks, depth, points, images, tags, tables, plots. The page also shows the model's \
            interface, its prediction time, and Swift, Python and shell code for the same prediction. An updatable model \
            can be trained there; the result is lost when the page is closed unless it is saved.

            Only those who have the link can use the page: it listens on 127.0.0.1, and the link contains a random token. \
            It loads nothing from the network and stores nothing. Through SSH: ssh -L 8080:127.0.0.1:8080 HOST, with \
            --port 8080 on HOST.

            Exit status: 0 ended by Ctrl-C or SIGTERM, 1 failure (the model cannot be loaded, the port is taken), 64 wrong \
            usage.
            """
    )

    @OptionGroup var source: ModelOptions
    @Option(help: "The port; any free one by default.")
    var port: UInt16 = 0
    @Flag(help: "Open the page in the browser.")
    var open = false
    @Option(help: "A folder for models that are trained on the page.")
    var save: String?
    @Option(
        help:
            "The vocabulary of a language model: word pieces, one per line (vocab.txt), or vocab.json with merges.txt beside it."
    )
    var vocabulary: String?
    @Option(help: "The number of worker threads; all cores by default.")
    var threads: Int?
    @Flag(help: "Print the link and a description of the model as a JSON object.")
    var json = false

    func run() throws {
        if let threads { Workers.limit(to: threads) }
        let file = try source.open()
        let session = try PreviewSession(
            file,
            function: source.function,
            vocabulary: try vocabulary.map { try PreviewVocabulary(contentsOf: $0) },
            saveFolder: save
        )
        let server = try failing { () throws(ModelError) in try PageServer(port: port) }
        let link = server.access.link
        if json {
            print(try JSONFeature.text(["url": link, "kind": session.plan.kind.rawValue, "model": file.path]))
        } else {
            print("\(file.path): \(session.plan.kind.title.lowercased())\n\n  \(link)\n\nCtrl-C ends the preview.")
        }
        fflush(nil)
        Interruption.watch()
        _ = signal(SIGPIPE, SIG_IGN)
        if open { Self.show(link) }
        let routes = PreviewRoutes(session)
        server.run(until: { Interruption.signal != 0 }) { request, body, connection in
            routes.answer(request, body, connection)
        }
        if !json { print("") }
    }

    /// Opens a link in the desktop's browser; when that fails, standard error says so.
    private static func show(_ link: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["xdg-open", link]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        @Sendable func complain() {
            FileHandle.standardError.write(
                Data("no browser opened the link (xdg-open failed); open it yourself\n".utf8)
            )
        }
        process.terminationHandler = { if $0.terminationStatus != 0 { complain() } }
        do { try process.run() } catch { complain() }
    }
}
