import DeploymentPolicy
import Foundation
import Hummingbird
import ServerCore

/// The contents of the form of a new release.
private enum NewReleasePage {
    struct Choice {
        let value: String
        let label: String
        let isChosen: Bool
    }

    struct Model {
        let name: String
        let choices: [Choice]
        let hasChoices: Bool
        let error: String?
    }

    struct Content {
        let path: String
        let team: String
        let id: String
        let next: Int
        let models: [Model]
        let note: String
        let minimumRuntime: String
        let metrics: String
        let errors: [String: String]
        let failure: String?
        let may: Permissions
        let commands: Commands
    }
}

extension Dashboard {
    func addReleases<Context: RequestContext>(to pages: Pages<Context>) {
        pages.get("apps/:app/collections/:collection/releases/new") { visit in try await newReleasePage(visit) }
        pages.form("apps/:app/collections/:collection/releases") { visit, form in try await makeRelease(visit, form) }
        pages.get("apps/:app/collections/:collection/releases/:number") { visit in try await releasePage(visit) }
        pages.get("apps/:app/collections/:collection/compare") { visit in try await comparisonPage(visit) }
    }

    // MARK: New releases

    private func newReleasePage(_ visit: Visit, _ form: Form? = nil, failure: ServiceError? = nil) async throws
        -> Response
    {
        let (place, collection) = try await place(visit)
        try require(.publish, visit, place.app.team)
        let archives = try await service.archives(of: place.app.team, as: visit.actor)
        let latest =
            collection.releases == 0
            ? nil
            : try await service.release(collection.releases, app: place.app.id, collection: place.id, as: visit.actor)
        func error(_ field: String) -> String? {
            guard let failure, let named = failure.field, named == field || named.hasPrefix(field + ".") else {
                return nil
            }
            return failure.description
        }
        let models = collection.models.map { name in
            let fitting = archives.filter { $0.fits(name) }
            let remaining = archives.filter { !$0.fits(name) }
            let before = latest?.models.first { $0.name == name }?.archive
            let chosen = form?["model.\(name)"] ?? fitting.first?.sha256 ?? before
            return NewReleasePage.Model(
                name: name,
                choices: (fitting + remaining).map { archive in
                    let version = archive.summary.version.map { " \($0)" } ?? ""
                    return NewReleasePage.Choice(
                        value: archive.sha256,
                        label: "\(archive.name)\(version) · \(Texts.bytes(archive.byteCount)) · "
                            + "\(Texts.short(archive.sha256)) · \(Texts.distance(archive.created))",
                        isChosen: archive.sha256 == chosen
                    )
                },
                hasChoices: !archives.isEmpty,
                error: error("models.\(name)")
            )
        }
        let named = ["note", "minimumRuntime", "metrics"]
        let isNamed = models.contains { $0.error != nil } || named.contains { error($0) != nil }
        let content = NewReleasePage.Content(
            path: place.path,
            team: place.app.team,
            id: place.id,
            next: collection.releases + 1,
            models: models,
            note: form?["note"] ?? "",
            minimumRuntime: form?["minimumRuntime"] ?? "",
            metrics: form?["metrics"] ?? "",
            errors: Dictionary(uniqueKeysWithValues: named.compactMap { name in error(name).map { (name, $0) } }),
            failure: isNamed ? nil : failure?.description,
            may: visit.visitor.permissions(in: place.app.team),
            commands: Commands(
                "release --app \(place.app.id) --collection \(place.id) \\\n  "
                    + collection.models.map { "\($0)=‹model.\($0)›" }.joined(separator: " \\\n  ") + " --note ‹note›",
                "POST",
                "apps/\(place.app.id)/collections/\(place.id)/releases",
                body: "{\"models\":{"
                    + collection.models.map { "\"\($0)\":{\"archive\":«model.\($0)»}" }.joined(separator: ",")
                    + "},\"note\":«note»}",
                address: visit.address
            )
        )
        return try await page(
            "release-new",
            content,
            title: "New release",
            team: place.app.team,
            section: .apps,
            trail: place.trail(),
            status: failure?.status ?? .ok,
            visit
        )
    }

    private func makeRelease(_ visit: Visit, _ form: Form) async throws -> Response {
        let (place, collection) = try await place(visit)
        do {
            let chosen = collection.models.compactMap { name in
                form.optional("model.\(name)").map { (name, NewRelease.Model(archive: $0)) }
            }
            let release = try await service.createRelease(
                NewRelease(
                    models: Dictionary(uniqueKeysWithValues: chosen),
                    minimumRuntime: form.optional("minimumRuntime"),
                    note: form.optional("note"),
                    metrics: try Self.metrics(form["metrics"])
                ),
                app: place.app.id,
                collection: place.id,
                as: visit.actor
            )
            return redirect("\(place.path)/releases/\(release.number)?done=release")
        } catch let error as ServiceError where error.isAboutForm {
            return try await newReleasePage(visit, form, failure: error)
        }
    }

    /// Reads lines of the form `name value` or `name = value`.
    private static func metrics(_ text: String) throws -> [String: Double]? {
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        var metrics: [String: Double] = [:]
        for line in lines {
            let parts = line.split { " =:\t".contains($0) }
            guard parts.count == 2, let value = Double(parts[1]), value.isFinite else {
                throw ServiceError(
                    .invalid,
                    "\"\(line)\" is not a name and a number, such as accuracy 0.93.",
                    field: "metrics"
                )
            }
            metrics[String(parts[0])] = value
        }
        return metrics.isEmpty ? nil : metrics
    }

    // MARK: A release

    private func releasePage(_ visit: Visit) async throws -> Response {
        struct Metric {
            let name: String
            let value: String
        }
        struct Delta {
            let from: String
            let size: String
            let saved: String
        }
        struct Model {
            let name: String
            let card: ArchiveCard
            let hasSelfTest: Bool
            let deltas: [Delta]
        }
        struct Content {
            let path: String
            let release: ReleaseRow
            let models: [Model]
            let metrics: [Metric]
            let hasMetrics: Bool
            let previous: Int?
            let may: Permissions
            let commands: Commands
        }
        let (place, _) = try await place(visit)
        let number = try visit.number("number")
        let release = try await service.release(number, app: place.app.id, collection: place.id, as: visit.actor)
        let document = try await service.releaseDocument(
            number,
            app: place.app.id,
            collection: place.id,
            as: visit.actor
        )
        var models: [Model] = []
        for model in release.models {
            let archive = try await service.archive(model.archive, team: place.app.team, as: visit.actor)
            let deltas = model.deltas.map { delta in
                Delta(
                    from: String(delta.from.prefix(8)),
                    size: Texts.bytes(delta.byteCount),
                    saved: "\(100 - 100 * delta.byteCount / max(1, model.byteCount)) %"
                )
            }
            let hasSelfTest = model.selfTest != nil
            models.append(
                Model(name: model.name, card: ArchiveCard(archive), hasSelfTest: hasSelfTest, deltas: deltas)
            )
        }
        let content = Content(
            path: place.path,
            release: ReleaseRow(release),
            models: models,
            metrics: document.metrics.map { Metric(name: $0.name, value: Texts.trimmed($0.value)) },
            hasMetrics: !document.metrics.isEmpty,
            previous: number > 1 ? number - 1 : nil,
            may: visit.visitor.permissions(in: place.app.team),
            commands: Commands(
                "create --app \(place.app.id) --collection \(place.id) --default \(number) --activate",
                "GET",
                "apps/\(place.app.id)/collections/\(place.id)/releases/\(number)",
                address: visit.address
            )
        )
        return try await page(
            "release",
            content,
            title: "Release \(number)",
            team: place.app.team,
            section: .apps,
            trail: place.trail(),
            visit
        )
    }

    // MARK: Two releases

    private func comparisonPage(_ visit: Visit) async throws -> Response {
        let (place, collection) = try await place(visit)
        guard let from = visit.query("from").flatMap({ Int($0) }), let to = visit.query("to").flatMap({ Int($0) })
        else {
            throw ServiceError(.invalid, "The numbers of two releases are needed: ?from=1&to=2.")
        }
        var sides: [ReleaseComparison.Side] = []
        for number in [from, to] {
            let release = try await service.release(number, app: place.app.id, collection: place.id, as: visit.actor)
            let document = try await service.releaseDocument(
                number,
                app: place.app.id,
                collection: place.id,
                as: visit.actor
            )
            var archives: [String: StoredArchive] = [:]
            for model in release.models {
                archives[model.name] = try await service.archive(model.archive, team: place.app.team, as: visit.actor)
            }
            sides.append(.init(release: release, document: document, archives: archives))
        }
        return try await page(
            "compare",
            ReleaseComparison(path: place.path, sides[0], sides[1], count: collection.releases),
            title: "Release \(from) and release \(to)",
            team: place.app.team,
            section: .apps,
            trail: place.trail(),
            visit
        )
    }
}

extension StoredArchive {
    /// Whether its name, or its file's, is a model's: such archives are proposed first.
    func fits(_ model: String) -> Bool { name == model || fileName.hasPrefix(model) }
}

/// The differences between two releases.
struct ReleaseComparison {
    struct Side {
        let release: Release
        let document: ReleaseDocument
        let archives: [String: StoredArchive]
    }

    struct FeatureChange {
        let sign: String
        let word: String
        let colour: String
        let name: String
        let detail: String
    }

    struct Model {
        let name: String
        let isSame: Bool
        let before: String
        let after: String
        let difference: String
        let isLarger: Bool
        let versions: String?
        let hasSameInterface: Bool
        let changes: [FeatureChange]
    }

    struct Metric {
        let name: String
        let before: String
        let after: String
        let difference: String
    }

    struct Choice {
        let number: Int
        let isFrom: Bool
        let isTo: Bool
    }

    let path: String
    let from: ReleaseRow
    let to: ReleaseRow
    let models: [Model]
    let metrics: [Metric]
    let hasMetrics: Bool
    let choices: [Choice]
    let total: String

    init(path: String, _ old: Side, _ new: Side, count: Int) {
        self.path = path
        from = ReleaseRow(old.release)
        to = ReleaseRow(new.release)
        models = Set(old.archives.keys).union(new.archives.keys).sorted().map {
            Self.model($0, old.archives[$0], new.archives[$0])
        }
        let (before, after) = (Self.metrics(old.document), Self.metrics(new.document))
        metrics = Set(before.keys).union(after.keys).sorted().map { name in
            let difference = before[name].flatMap { first in after[name].map { $0 - first } }
            return Metric(
                name: name,
                before: before[name].map(Texts.trimmed) ?? "–",
                after: after[name].map(Texts.trimmed) ?? "–",
                difference: difference.map { ($0 > 0 ? "+" : "") + Texts.trimmed($0) } ?? ""
            )
        }
        hasMetrics = !metrics.isEmpty
        let (first, second) = (old.release.number, new.release.number)
        choices = (1...max(count, 1)).reversed().map { Choice(number: $0, isFrom: $0 == first, isTo: $0 == second) }
        total = Self.sizeDifference(
            old.release.models.reduce(0) { $0 + $1.byteCount },
            new.release.models.reduce(0) { $0 + $1.byteCount }
        )
    }

    private static func metrics(_ document: ReleaseDocument) -> [String: Double] {
        Dictionary(document.metrics.map { ($0.name, $0.value) }) { first, _ in first }
    }

    private static func sizeDifference(_ old: Int, _ new: Int) -> String {
        if old == new { return "same size" }
        let share =
            old == 0 ? "" : " (" + (new > old ? "+" : "−") + Texts.percent(Double(abs(new - old)) / Double(old)) + ")"
        return (new > old ? "+" : "−") + Texts.bytes(abs(new - old)) + share
    }

    private static func model(_ name: String, _ old: StoredArchive?, _ new: StoredArchive?) -> Model {
        let versions = (old?.summary.version ?? "–", new?.summary.version ?? "–")
        return Model(
            name: name,
            isSame: old?.sha256 == new?.sha256,
            before: old.map { Texts.bytes($0.byteCount) } ?? "–",
            after: new.map { Texts.bytes($0.byteCount) } ?? "–",
            difference: sizeDifference(old?.byteCount ?? 0, new?.byteCount ?? 0),
            isLarger: (new?.byteCount ?? 0) > (old?.byteCount ?? 0),
            versions: versions.0 == versions.1 ? nil : "\(versions.0) → \(versions.1)",
            hasSameInterface: old?.summary.interface != nil && old?.summary.interface == new?.summary.interface,
            changes: changes(old?.summary.features ?? [], new?.summary.features ?? [])
        )
    }

    private static func changes(_ old: [StoredArchive.Feature], _ new: [StoredArchive.Feature]) -> [FeatureChange] {
        let before = Dictionary(old.map { ("\($0.role) \($0.name)", $0.type) }) { first, _ in first }
        let after = Dictionary(new.map { ("\($0.role) \($0.name)", $0.type) }) { first, _ in first }
        return Set(before.keys).union(after.keys).sorted().compactMap { name in
            switch (before[name], after[name]) {
            case (let old?, nil): FeatureChange(sign: "−", word: "removed", colour: "bad", name: name, detail: old)
            case (nil, let new?): FeatureChange(sign: "+", word: "added", colour: "good", name: name, detail: new)
            case (let old?, let new?) where old != new:
                FeatureChange(sign: "~", word: "changed", colour: "warn", name: name, detail: "\(old) → \(new)")
            default: nil
            }
        }
    }
}
