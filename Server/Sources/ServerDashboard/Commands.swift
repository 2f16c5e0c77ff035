import Foundation

/// The equivalent shell and API commands, which pages show.
///
/// `‹name›` stands for the form's field as an argument of the shell, `«name»` as a JSON text, `¦name¦` as a JSON list
/// of its lines; the page's script replaces them while the form is filled in.
struct Commands {
    let shell: String
    let api: String

    /// Creates the commands for an action.
    ///
    /// `shell` has the arguments of `coreml deploy`, `body` the JSON of the request, if it has one.
    init(_ shell: String, _ method: String, _ path: String, body: String? = nil, file: String? = nil, address: String) {
        self.shell = "coreml deploy " + shell
        var text = "curl -H \"Authorization: Bearer $COREML_TOKEN\""
        if method != "GET" { text += " -X \(method)" }
        if let body {
            text += " \\\n  -H 'Content-Type: application/json' \\\n  -d '\(body.replacing("'", with: "'\\''"))'"
        }
        if let file { text += " \\\n  --data-binary @\(file)" }
        api = text + " \\\n  '\(address)/api/v1/\(path)'"
    }

    /// A text quoted as one argument of a shell.
    static func quoted(_ text: String) -> String {
        let plain = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || "-_./:=@%+,".utf8.contains($0)
        }
        return plain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}

/// A field of a form.
struct Field {
    struct Option {
        let value: String
        let label: String
        var isChosen = false
        /// The effect of choosing it.
        var about: String?
    }

    let name: String
    let label: String
    var value = ""
    var hint: String?
    var placeholder: String?
    var error: String?
    var isRequired = false
    var isCode = false
    let isArea: Bool
    let isInput: Bool
    let isSelect: Bool
    let isChecks: Bool
    let options: [Option]

    init(
        name: String,
        label: String,
        value: String = "",
        hint: String? = nil,
        placeholder: String? = nil,
        isRequired: Bool = false,
        isMultiline: Bool = false,
        isCode: Bool = false,
        options: [Option]? = nil,
        checks: [Option]? = nil
    ) {
        self.name = name
        self.label = label
        self.value = value
        self.hint = hint
        self.placeholder = placeholder
        self.isRequired = isRequired
        self.isCode = isCode
        isSelect = options != nil
        isChecks = checks != nil
        isArea = isMultiline
        isInput = options == nil && checks == nil && !isMultiline
        self.options = options ?? checks ?? []
    }
}

/// A page that asks for some values.
struct FormPage {
    let title: String
    let lead: String
    let action: String
    let submit: String
    let cancel: String
    let fields: [Field]
    /// The error, when it does not concern a single field.
    let failure: String?
    let commands: Commands?

    init(
        title: String,
        lead: String,
        action: String,
        submit: String,
        cancel: String,
        fields: [Field],
        failure: (field: String?, text: String)? = nil,
        commands: Commands?
    ) {
        self.title = title
        self.lead = lead
        self.action = action
        self.submit = submit
        self.cancel = cancel
        let named = fields.map { field in
            var field = field
            if let failure, failure.field == field.name || (failure.field ?? "").hasPrefix(field.name + "[") {
                field.error = failure.text
            }
            return field
        }
        self.fields = named
        self.failure = named.contains { $0.error != nil } ? nil : failure?.text
        self.commands = commands
    }
}
