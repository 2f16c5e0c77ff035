import Foundation

/// Classes of the app by the names that model files use.
enum AppClasses {
    /// The class of that full name, `Module.Class`, or `Class` of the module of the main executable.
    static func named(_ name: String) -> AnyClass? {
        for candidate in [name] + mainModules.map({ "\($0).\(name)" }) {
            if let type = NSClassFromString(candidate) { return type }
        }
        return nil
    }

    /// Names that the module of the main executable may have.
    private static var mainModules: [String] {
        guard let path = CommandLine.arguments.first, let file = path.split(separator: "/").last else { return [] }
        return [String(file.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" }), "main"]
    }
}
