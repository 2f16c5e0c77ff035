import Foundation
import Hummingbird
import ServerBlobs
import ServerCore

/// An archive as pages show it.
struct ArchiveCard {
    struct Feature {
        let role: String
        let name: String
        let type: String
    }

    let team: String
    let sha256: String
    let short: String
    let name: String
    let kind: String?
    let version: String?
    let description: String?
    let fileName: String
    let size: String
    let byteCount: Int
    let interface: String?
    let inputs: [Feature]
    let outputs: [Feature]
    let states: [Feature]
    let hasFeatures: Bool
    let hasStates: Bool
    let encryption: StoredArchive.Encryption?
    let signers: Int
    let isSigned: Bool
    let created: Moment
    let createdBy: String
    let tool: String

    init(_ archive: StoredArchive) {
        team = archive.team
        sha256 = archive.sha256
        short = Texts.short(archive.sha256)
        name = archive.name
        kind = archive.summary.kind
        version = archive.summary.version
        description = archive.summary.description
        fileName = archive.fileName
        size = Texts.bytes(archive.byteCount)
        byteCount = archive.byteCount
        interface = archive.summary.interface.map(Texts.short)
        let features = archive.summary.features ?? []
        func list(_ role: String) -> [Feature] {
            features.filter { $0.role == role }.map { Feature(role: $0.role, name: $0.name, type: $0.type) }
        }
        inputs = list("input")
        outputs = list("output")
        states = list("state")
        hasFeatures = !features.isEmpty
        hasStates = !states.isEmpty
        encryption = archive.summary.encryption
        signers = archive.summary.signers.count
        isSigned = !archive.summary.signers.isEmpty
        created = Moment(archive.created)
        createdBy = archive.createdBy
        tool = archive.summary.tool
    }
}

extension Dashboard {
    func addArchives<Context: RequestContext>(to pages: Pages<Context>) {
        pages.get("teams/:team/archives") { visit in try await archivesPage(visit) }
        pages.send("teams/:team/archives") { visit in try await upload(visit) }
        pages.get("teams/:team/archives/:sha256") { visit in try await archivePage(visit) }
    }

    private func archivesPage(_ visit: Visit) async throws -> Response {
        struct Content {
            let team: String
            let may: Permissions
            let archives: [ArchiveCard]
            let isEmpty: Bool
            let commands: Commands
        }
        let team = try visit.name("team")
        let archives = try await service.archives(of: team, as: visit.actor).map(ArchiveCard.init)
        let content = Content(
            team: team,
            may: visit.visitor.permissions(in: team),
            archives: archives,
            isEmpty: archives.isEmpty,
            commands: Commands(
                "upload Model.mlarchive --team \(team)",
                "POST",
                "teams/\(team)/archives?name=Model.mlarchive",
                file: "Model.mlarchive",
                address: visit.address
            )
        )
        return try await page("archives", content, title: "Archives", team: team, section: .archives, visit)
    }

    private func archivePage(_ visit: Visit) async throws -> Response {
        let team = try visit.name("team")
        let archive = try await service.archive(visit.name("sha256"), team: team, as: visit.actor)
        return try await page(
            "archive",
            ArchiveCard(archive),
            title: archive.name,
            team: team,
            section: .archives,
            trail: [.init(name: "Archives", address: "/teams/\(team)/archives")],
            visit
        )
    }

    /// The largest accepted archive in bytes.
    private static let maximumArchiveByteCount = 10 << 30

    /// Accepts an archive as the body of the request; the answer is its card.
    private func upload(_ visit: Visit) async throws -> Response {
        let team = try visit.name("team")
        let upload = try await service.uploadArchive(team: team, as: visit.actor)
        do {
            var byteCount = 0
            for try await buffer in visit.request.body {
                byteCount += buffer.readableBytes
                guard byteCount <= Self.maximumArchiveByteCount else {
                    throw ServiceError(.tooLarge, "A file has at most \(Self.maximumArchiveByteCount >> 30) GiB.")
                }
                try await upload.append(Array(buffer: buffer))
            }
            let archive = try await service.finishArchive(
                upload,
                team: team,
                fileName: visit.query("name") ?? "",
                expecting: nil,
                as: visit.actor
            )
            return fragment("archive-card", ArchiveCard(archive))
        } catch {
            await upload.cancel()
            throw error
        }
    }
}
