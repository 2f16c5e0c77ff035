import Foundation

/// The app's classes, by the names that model files use.
enum AppClasses {
    /// The class of a full name, `Module.Class`, or of a name in the main executable's module.
    static func named(_ name: String) -> AnyClass? {
        for candidate in [name] + mainModules.map({ "\($0).\(name)" }) {
            if let type = NSClassFromString(candidate) { return type }
        }
        return nil
    }

    /// The names that the module of the main executable may have.
    private static var mainModules: [String] {
        guard let path = CommandLine.arguments.first, let file = path.split(separator: "/").last else { return [] }
        return [String(file.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" }), "main"]
    }
}
