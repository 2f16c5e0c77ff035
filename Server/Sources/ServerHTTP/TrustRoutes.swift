import Foundation
import Hummingbird
import ServerCore

/// The routes of `/api/v1` about signatures and their keys.
struct TrustRoutes {
    let service: Service

    func add(to router: RouterGroup<Context>) {
        router.get("teams/:team/trust") { request, context in
            Answers.json(try await service.trustStatus(of: context.name("team"), as: context.actor))
        }
        router.get("teams/:team/trust/drafts") { request, context in
            Answers.json(try await service.trustDrafts(of: context.name("team"), as: context.actor))
        }
        router.put("teams/:team/trust") { request, context in
            let files = try await request.json(Documents.self, context).documents
            return Answers.json(
                try await service.replaceTrust(of: context.name("team"), with: files, as: context.actor)
            )
        }
        router.post("teams/:team/trust/online-keys") { request, context in
            Answers.json(try await service.replaceOnlineKeys(of: context.name("team"), as: context.actor))
        }
        router.put("teams/:team/trust/releases") { request, context in
            let files = try await request.json(Documents.self, context).documents
            return Answers.json(
                try await service.signReleases(of: context.name("team"), with: files, as: context.actor)
            )
        }
    }

    private struct Documents: Codable {
        /// Signed files in base64, by the names of their roles.
        let documents: [String: Data]
    }
}
