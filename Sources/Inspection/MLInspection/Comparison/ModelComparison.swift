import MLFeatureFiles
package import MLFiles
package import MLNumerics
import MLSpecification

/// A difference between two models.
package struct ModelChange: Sendable, Equatable {
    package enum Kind: String, Sendable { case added, removed, changed }

    package let kind: Kind
    /// The part that differs: "input 'x'", "layer 'conv1' (convolution)".
    package let location: String
    /// The attribute that changed; empty for the part as a whole.
    package let attribute: String
    package let before: String?
    package let after: String?

    init(_ kind: Kind, _ location: String, _ attribute: String = "", before: String? = nil, after: String? = nil) {
        self.kind = kind
        self.location = location
        self.attribute = attribute
        self.before = before
        self.after = after
    }
}

/// The differences between two models.
package struct ModelComparison: Sendable {
    package private(set) var interface: [ModelChange] = []
    package private(set) var metadata: [ModelChange] = []
    /// Operations and layers that exist in one model only, or have different attributes.
    package private(set) var structure: [ModelChange] = []
    /// Different fields of models that are not graphs.
    package private(set) var fields: [(location: String, change: FieldChange)] = []
    /// Tensors with a counterpart of the same shape, the largest changes first.
    package private(set) var weights: [WeightChange] = []
    /// Tensors that exist in one model only, or whose shapes differ.
    package private(set) var unpaired: [ModelChange] = []
    /// Tensors that could not be decoded.
    package private(set) var failures: [ModelError] = []
    /// The index of the first operation whose weights changed, and the number of operations, over all lists.
    private var firstMoved: Int?
    private var itemCount = 0
    private var movedOwners: [String] = []

    package init(_ a: ModelFile, _ b: ModelFile) {
        compare(a, b, inside: "")
        weights.sort {
            ($0.relativeDistance, $1.name) > ($1.relativeDistance, $0.name)
        }
    }

    package var moved: [WeightChange] { weights.filter(\.hasMoved) }

    package var isIdentical: Bool {
        interface.isEmpty && metadata.isEmpty && structure.isEmpty && fields.isEmpty && unpaired.isEmpty
            && failures.isEmpty && moved.isEmpty && !weights.contains { $0.storage != $0.otherStorage }
    }

    /// A one-line summary.
    package var summary: String {
        if isIdentical { return "no difference" }
        var parts = [
            interface.isEmpty ? "same interface" : "\(interface.count) differences in the interface",
            structure.isEmpty && fields.isEmpty
                ? "same structure"
                : "\(structure.count + fields.count) differences in structure",
        ]
        if !metadata.isEmpty { parts.append("other metadata") }
        if !weights.isEmpty {
            let moved = moved.count
            if moved == 0 {
                parts.append("no tensor changed")
            } else {
                parts.append("\(moved) of \(weights.count) tensors changed" + whereMoved)
            }
            let repacked = weights.count { $0.storage != $0.otherStorage }
            if repacked > 0 { parts.append("\(repacked) stored differently") }
        }
        if !unpaired.isEmpty { parts.append("\(unpaired.count) tensors without a counterpart") }
        return parts.joined(separator: ", ")
    }

    /// The location of the changed weights, if they are a small part of the model.
    private var whereMoved: String {
        let owners = Set(movedOwners)
        if owners.count <= 2, owners.count < itemCount {
            return ", all in '" + owners.sorted().joined(separator: "' and '") + "'"
        }
        guard let firstMoved, itemCount > 0, firstMoved * 2 >= itemCount else { return "" }
        return ", all in the last \(itemCount - firstMoved) of \(itemCount) operations"
    }

    // MARK: Models

    private mutating func compare(_ a: ModelFile, _ b: ModelFile, inside location: String) {
        let (first, second) = (a.specification, b.specification)
        interface += InterfaceComparison.changes(first, second, inside: location)
        metadata += InterfaceComparison.metadata(
            first.description_p.metadata,
            second.description_p.metadata,
            inside: location
        )
        guard first.kindName == second.kindName else {
            structure.append(
                ModelChange(
                    .changed,
                    location.isEmpty ? "model" : location,
                    "kind",
                    before: first.kindName,
                    after: second.kindName
                )
            )
            return pairByShape(a.parameterTensors(), b.parameterTensors(), inside: location)
        }
        if !first.stages.isEmpty || !second.stages.isEmpty { return compareStages(a, b, inside: location) }
        guard let old = StructureList.lists(of: a), let new = StructureList.lists(of: b) else {
            return compareFields(a, b, inside: location)
        }
        for list in old where !new.contains(where: { $0.name == list.name }) {
            structure.append(ModelChange(.removed, location + "function '\(list.name)'"))
        }
        for list in new {
            guard let partner = old.first(where: { $0.name == list.name }) else {
                structure.append(ModelChange(.added, location + "function '\(list.name)'"))
                continue
            }
            let prefix = list.name.isEmpty || new.count == 1 ? location : location + "function '\(list.name)' › "
            compare(partner, list, a.specification, b.specification, inside: prefix)
        }
        compareNetworks(first, second, inside: location)
    }

    private mutating func compareStages(_ a: ModelFile, _ b: ModelFile, inside location: String) {
        let (old, new) = (
            Array(zip(a.specification.stages, a.stageNames)), Array(zip(b.specification.stages, b.stageNames))
        )
        for index in 0..<max(old.count, new.count) {
            guard old.indices.contains(index) else {
                structure.append(
                    ModelChange(.added, location + "model '\(new[index].1)'", after: new[index].0.kindName)
                )
                continue
            }
            guard new.indices.contains(index) else {
                structure.append(
                    ModelChange(.removed, location + "model '\(old[index].1)'", before: old[index].0.kindName)
                )
                continue
            }
            let name = new[index].1
            if old[index].1 != name {
                structure.append(
                    ModelChange(.changed, location + "model \(index)", "name", before: old[index].1, after: name)
                )
            }
            compare(
                a.stage(old[index].0, named: name),
                b.stage(new[index].0, named: name),
                inside: location + "model '\(name)' › "
            )
        }
    }

    /// Compares models that are not graphs field by field.
    private mutating func compareFields(_ a: ModelFile, _ b: ModelFile, inside location: String) {
        let (first, second) = (a.parameterTensors(), b.parameterTensors())
        if first.count == second.count, !first.isEmpty { pair(first, second, inside: location) }
        var (old, new) = (a.specification, b.specification)
        (old.description_p, new.description_p) = (SpecModelDescription(), SpecModelDescription())
        (old.specificationVersion, new.specificationVersion) = (0, 0)
        guard old != new else { return }
        fields += FieldChange.changes(old, new).map { (location, $0) }
    }

    /// Compares a network's fields other than its layers: preprocessing, shape mappings, updates, labels.
    private mutating func compareNetworks(_ a: SpecModel, _ b: SpecModel, inside location: String) {
        var (old, new) = (a, b)
        guard old.networkLayers != nil, new.networkLayers != nil else { return }
        (old.networkLayers, new.networkLayers) = ([], [])
        (old.description_p, new.description_p) = (SpecModelDescription(), SpecModelDescription())
        (old.specificationVersion, new.specificationVersion) = (0, 0)
        guard old != new else { return }
        fields += FieldChange.changes(old, new).filter { !$0.path.contains("ClassLabels") }.map { (location, $0) }
    }

    // MARK: Operations

    private mutating func compare(
        _ a: StructureList,
        _ b: StructureList,
        _ first: SpecModel,
        _ second: SpecModel,
        inside location: String
    ) {
        let match = ItemMatch(a.items, b.items)
        let noun = first.networkLayers == nil ? "operation" : "layer"
        func title(_ item: StructureItem) -> String { "\(location)\(noun) '\(item.name)' (\(item.kind))" }
        for index in match.removed { structure.append(ModelChange(.removed, title(a.items[index]))) }
        for index in match.added { structure.append(ModelChange(.added, title(b.items[index]))) }
        var renamed: [String: String] = [:]
        for (i, j) in match.pairs {
            let (old, new) = (a.items[i], b.items[j])
            for (before, after) in zip(old.outputs, new.outputs) { renamed[before] = after }
            for (before, after) in [(old.attributes, new.attributes), (old.types, new.types)] {
                for name in Set(before.keys).union(after.keys).sorted() where before[name] != after[name] {
                    structure.append(
                        ModelChange(.changed, title(new), name, before: before[name], after: after[name])
                    )
                }
            }
        }
        for (i, j) in match.pairs {
            let (old, new) = (a.items[i], b.items[j])
            let sources = Dictionary(new.inputs.map { ($0.argument, $0.value) }) { $1 }
            for (argument, value) in old.inputs {
                guard let source = sources[argument], source != renamed[value] ?? value else { continue }
                structure.append(
                    ModelChange(.changed, title(new), "\(argument) comes from", before: value, after: source)
                )
            }
        }
        pairTensors(a, b, match, inside: location)
        itemCount += b.items.count
    }

    private mutating func pairTensors(
        _ a: StructureList,
        _ b: StructureList,
        _ match: ItemMatch,
        inside location: String
    ) {
        var (seenA, seenB) = (Set<String>(), Set<String>())
        for (i, j) in match.pairs {
            let arguments = Dictionary(b.items[j].parameters.map { ($0.argument, $0.tensor) }) { $1 }
            for (argument, name) in a.items[i].parameters {
                guard let other = arguments[argument], let first = a.tensors[name], let second = b.tensors[other] else {
                    continue
                }
                let isNew = seenA.insert(name).inserted
                let isOtherNew = seenB.insert(other).inserted
                guard isNew || isOtherNew else { continue }
                if compare(first, second, inside: location) {
                    firstMoved = min(firstMoved ?? .max, itemCount + j)
                    movedOwners.append(b.items[j].name)
                }
            }
        }
        // Tensors that no pair of operations uses, such as outputs that are constants, are paired by name.
        for name in b.tensorNames where !seenB.contains(name) {
            if !seenA.contains(name), let first = a.tensors[name], let second = b.tensors[name] {
                seenA.insert(name)
                if compare(first, second, inside: location) { movedOwners.append(name) }
            } else if let tensor = b.tensors[name] {
                unpaired.append(ModelChange(.added, "\(location)'\(name)'", after: "\(tensor.storage) \(tensor.shape)"))
            }
        }
        for name in a.tensorNames where !seenA.contains(name) {
            guard let tensor = a.tensors[name] else { continue }
            unpaired.append(ModelChange(.removed, "\(location)'\(name)'", before: "\(tensor.storage) \(tensor.shape)"))
        }
    }

    /// Pairs the tensors of models in different languages: those of the same shape in order.
    private mutating func pairByShape(_ a: [ParameterTensor], _ b: [ParameterTensor], inside location: String) {
        func shape(_ tensor: ParameterTensor) -> [Int] { tensor.shape.filter { $0 != 1 } }
        var partners = Dictionary(grouping: b, by: shape).mapValues { $0[...] }
        for tensor in a {
            if let partner = partners[shape(tensor)]?.popFirst() {
                if compare(tensor, partner, inside: location) { movedOwners.append(partner.name) }
            } else {
                unpaired.append(
                    ModelChange(.removed, "\(location)'\(tensor.name)'", before: "\(tensor.storage) \(tensor.shape)")
                )
            }
        }
        let left = Set(partners.values.flatMap { $0.map(\.name) })
        for tensor in b where left.contains(tensor.name) {
            unpaired.append(
                ModelChange(.added, "\(location)'\(tensor.name)'", after: "\(tensor.storage) \(tensor.shape)")
            )
        }
    }

    /// Pairs tensors by name.
    private mutating func pair(_ a: [ParameterTensor], _ b: [ParameterTensor], inside location: String) {
        let partners = Dictionary(b.map { ($0.name, $0) }) { first, _ in first }
        let names = Set(a.map(\.name))
        for tensor in a {
            if let partner = partners[tensor.name] {
                if compare(tensor, partner, inside: location) { movedOwners.append(tensor.name) }
            } else {
                unpaired.append(
                    ModelChange(.removed, "\(location)'\(tensor.name)'", before: "\(tensor.storage) \(tensor.shape)")
                )
            }
        }
        for tensor in b where !names.contains(tensor.name) {
            unpaired.append(
                ModelChange(.added, "\(location)'\(tensor.name)'", after: "\(tensor.storage) \(tensor.shape)")
            )
        }
    }

    /// - Returns: Whether the values differ.
    private mutating func compare(_ a: ParameterTensor, _ b: ParameterTensor, inside location: String) -> Bool {
        do throws(ModelError) {
            guard let change = try WeightChange(a, b) else {
                unpaired.append(
                    ModelChange(
                        .changed,
                        "\(location)'\(b.name)'",
                        "shape",
                        before: "\(a.shape)",
                        after: "\(b.shape)"
                    )
                )
                return false
            }
            weights.append(change)
            return change.hasMoved
        } catch {
            failures.append(location.isEmpty ? error : error.at(location))
            return false
        }
    }
}

/// Matches the operations of two lists.
private struct ItemMatch {
    private(set) var pairs: [(Int, Int)] = []
    private(set) var removed: [Int] = []
    private(set) var added: [Int] = []

    init(_ a: [StructureItem], _ b: [StructureItem]) {
        var numbers: [String: Int] = [:]
        func number(_ item: StructureItem) -> Int {
            let signature = item.signature
            if let known = numbers[signature] { return known }
            numbers[signature] = numbers.count
            return numbers.count - 1
        }
        let equal = SequenceAlignment.pairs(a.map(number), b.map(number))
        var (i, j) = (0, 0)
        for (x, y) in equal + [(a.count, b.count)] {
            pairRest(a, i..<x, b, j..<y)
            if x < a.count { pairs.append((x, y)) }
            (i, j) = (x + 1, y + 1)
        }
    }

    /// Pairs the items between two pairs: by name, then by kind in order.
    private mutating func pairRest(_ a: [StructureItem], _ old: Range<Int>, _ b: [StructureItem], _ new: Range<Int>) {
        var remaining = Array(new)
        var left: [Int] = []
        var found: [(Int, Int)] = []
        for index in old {
            if let location = remaining.firstIndex(where: { b[$0].name == a[index].name && b[$0].kind == a[index].kind }
            ) {
                found.append((index, remaining.remove(at: location)))
            } else {
                left.append(index)
            }
        }
        for index in left {
            if let location = remaining.firstIndex(where: { b[$0].kind == a[index].kind }) {
                found.append((index, remaining.remove(at: location)))
            } else {
                removed.append(index)
            }
        }
        pairs += found.sorted { $0.0 < $1.0 }
        added += remaining
    }
}
