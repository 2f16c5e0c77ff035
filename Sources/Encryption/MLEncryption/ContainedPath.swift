import Foundation
package import MLNumerics

/// The rules for paths within a model: valid file names on every system that do not lead out of the folder.
package enum ContainedPath {
    package static let maximumLength = 1024
    package static let deepest = 16
    package static let maximumFileCount = 10_000

    /// Throws unless `path` may be that of a file in a model.
    package static func check(_ path: String) throws(ModelError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let problem: String? =
            if path.utf8.count > maximumLength {
                "is longer than \(maximumLength) bytes"
            } else if parts.count > deepest {
                "is nested deeper than \(deepest) levels"
            } else if path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                "has a control character"
            } else if path.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: ":") }) {
                "has a backslash or a colon, which lead elsewhere on some systems"
            } else if !path.precomposedStringWithCanonicalMapping.utf8.elementsEqual(path.utf8) {
                "is not in Unicode's composed form (NFC)"
            } else {
                parts.lazy.compactMap(problem).first
            }
        guard let problem else { return }
        throw ModelError(
            .malformed,
            "The path \"\(display(path))\" \(problem): it cannot be that of a file in a model; do not use this file."
        )
    }

    /// Throws unless `paths` can coexist, also on systems that do not distinguish case.
    package static func check(all paths: some Collection<String>) throws(ModelError) {
        guard paths.count <= maximumFileCount else {
            throw ModelError(
                .malformed,
                "\(paths.count) files are more than the \(maximumFileCount) that a model may have."
            )
        }
        var files: Set<String> = []
        var folders: Set<String> = []
        for path in paths {
            try check(path)
            let folded = path.uppercased().lowercased()
            guard files.insert(folded).inserted, !folders.contains(folded) else { throw duplicatePath(path) }
            var folder = folded[...]
            while let slash = folder.lastIndex(of: "/") {
                folder = folder[..<slash]
                guard !files.contains(String(folder)) else { throw duplicatePath(path) }
                folders.insert(String(folder))
            }
        }
    }

    private static func duplicatePath(_ path: String) -> ModelError {
        ModelError(
            .malformed,
            "The path \"\(display(path))\" occurs twice, but for the case of letters, or is both a file and a folder; do "
                + "not use this file."
        )
    }

    /// The problem with one component of a path; `nil` when it is a valid name.
    private static func problem(_ part: Substring) -> String? {
        switch part {
        case "": "begins or ends with a slash, or has two in a row"
        case ".", "..": "has the component \"\(part)\""
        default:
            if part.hasSuffix(".") || part.hasSuffix(" ") {
                "has a component that ends with a point or a space"
            } else if reserved.contains(part.prefix { $0 != "." }.lowercased()) {
                "has the component \"\(part)\", which is the name of a device on some systems"
            } else {
                nil
            }
        }
    }

    private static let reserved: Set<String> = {
        var names: Set<String> = ["con", "prn", "aux", "nul", "conin$", "conout$"]
        for digit in 0...9 { names.formUnion(["com\(digit)", "lpt\(digit)"]) }
        return names
    }()

    /// A path in a form that a message can show.
    private static func display(_ path: String) -> String {
        String(path.unicodeScalars.prefix(80).map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : Character($0) })
    }
}
