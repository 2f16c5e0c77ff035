// The pieces of programs on the pages of modules.

import BackgroundTasks
import CoreML
import NaturalLanguage

/// Converts an image file of any readable format to PNG.
func convert(_ picture: URL, to png: URL) -> Bool {
    guard let source = CGImageSourceCreateWithURL(picture as CFURL, nil),
        let image = CGImageSourceCreateImageAtIndex(source, 0, nil),
        let destination = CGImageDestinationCreateWithURL(png as CFURL, "public.png" as CFString, 1, nil)
    else { return false }
    CGImageDestinationAddImage(destination, image, nil)
    return CGImageDestinationFinalize(destination)
}

/// The language of a text, and its words.
func describe(_ text: String) -> (language: String, words: [Substring]) {
    let tokenizer = NLTokenizer(unit: .word)
    tokenizer.string = text
    let words = tokenizer.tokens(for: text.startIndex..<text.endIndex).map { text[$0] }
    return (NLLanguageRecognizer.dominantLanguage(for: text)?.rawValue ?? "und", words)
}

/// Does some work when the machine is idle and has external power.
func schedule(_ work: @escaping () -> Bool) throws {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.tidy", using: nil) { task in
        task.setTaskCompleted(success: work())
    }
    let request = BGProcessingTaskRequest(identifier: "org.example.tidy")
    request.requiresExternalPower = true
    try BGTaskScheduler.shared.submit(request)
}
