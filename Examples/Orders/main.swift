// Orders: a food ordering app learns on the device what a customer likes to eat, and when, from every order.

import CoreML
import CreateML
import ExampleSupport
import Foundation
import TabularData

enum Meal: String, CaseIterable { case breakfast, lunch, dinner }

struct Dish {
    let name: String
    let keywords: [String]
}

struct Order {
    let dish: Dish
    let meal: Meal
}

let menu = [
    Dish(name: "Porridge with berries", keywords: ["oats", "berries", "sweet", "warm"]),
    Dish(name: "Granola with yoghurt", keywords: ["oats", "yoghurt", "sweet", "cold"]),
    Dish(name: "Pancakes", keywords: ["flour", "eggs", "sweet", "warm"]),
    Dish(name: "Fried eggs on toast", keywords: ["eggs", "bread", "savoury", "warm"]),
    Dish(name: "Tomato salad", keywords: ["tomatoes", "herbs", "vegetarian", "cold"]),
    Dish(name: "Chicken sandwich", keywords: ["chicken", "bread", "savoury", "cold"]),
    Dish(name: "Lentil curry", keywords: ["lentils", "rice", "spicy", "vegetarian", "warm"]),
    Dish(name: "Vegetable curry", keywords: ["vegetables", "rice", "spicy", "vegetarian", "warm"]),
    Dish(name: "Chicken curry", keywords: ["chicken", "rice", "spicy", "warm"]),
    Dish(name: "Spaghetti with tomatoes", keywords: ["pasta", "tomatoes", "vegetarian", "warm"]),
    Dish(name: "Fish and chips", keywords: ["fish", "potatoes", "fried", "warm"]),
    Dish(name: "Burger", keywords: ["beef", "bread", "fried", "warm"]),
]

/// The features of a dish: its keywords, and each of them together with the time of the meal.
func features(_ keywords: [String], _ meal: Meal) -> [String: Double] {
    var result: [String: Double] = [:]
    for keyword in keywords {
        result[keyword] = 1
        result["\(keyword) × \(meal.rawValue)"] = 1
    }
    return result
}

/// A row for every order with the target 1, and one with the keywords that its dish does not have with the target -1.
func table(_ orders: [Order]) -> DataFrame {
    let keywords = Set(menu.flatMap(\.keywords)).sorted()
    var (examples, targets): ([[String: Double]], [Double]) = ([], [])
    for order in orders {
        examples.append(features(order.dish.keywords, order.meal))
        targets.append(1)
        examples.append(features(keywords.filter { !order.dish.keywords.contains($0) }, order.meal))
        targets.append(-1)
    }
    var frame = DataFrame()
    frame.append(column: Column(name: "keywords", contents: examples))
    frame.append(column: Column(name: "target", contents: targets))
    return frame
}

/// The menu in the order in which it is suggested for a meal.
func suggestions(_ model: MLModel, for meal: Meal) throws -> [(dish: Dish, score: Double)] {
    try menu.map { dish in
        let input = try MLDictionaryFeatureProvider(dictionary: ["keywords": features(dish.keywords, meal)])
        return (dish, try model.prediction(from: input).featureValue(for: "target")?.doubleValue ?? 0)
    }.sorted { $0.score > $1.score }
}

func train(_ orders: [Order]) throws -> MLLinearRegressor {
    try MLLinearRegressor(
        trainingData: table(orders),
        targetColumn: "target",
        parameters: .init(validation: .none)
    )
}

/// The orders of the arguments, MEAL=DISH each.
func parsed(_ arguments: [String]) throws -> [Order] {
    try arguments.map { argument in
        let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let meal = Meal(rawValue: parts[0].lowercased()),
            let dish = menu.first(where: { $0.name.lowercased() == parts[1].lowercased() })
        else {
            throw Unexpected(
                "'\(argument)' is no order: pass MEAL=DISH with a meal of "
                    + "\(Meal.allCases.map(\.rawValue).joined(separator: ", ")) and a dish of the menu: "
                    + menu.map(\.name).joined(separator: ", ")
            )
        }
        return Order(dish: dish, meal: meal)
    }
}

let own = try parsed(Array(CommandLine.arguments.dropFirst()))
let orders =
    own.isEmpty ? [Order(dish: menu[0], meal: .breakfast), Order(dish: menu[6], meal: .dinner)] : own
for order in orders { print("ordered for \(order.meal.rawValue): \(order.dish.name)") }

let clock = ContinuousClock()
var regressor: MLLinearRegressor?
let times = try (0..<5).map { _ in try clock.measure { regressor = try train(orders) } }
guard let regressor, let time = times.min() else { throw Unexpected("nothing was trained") }
let width = Set(table(orders)["keywords", [String: Double].self].flatMap { ($0 ?? [:]).keys }).count
print(
    "trained on \(2 * orders.count) rows of \(width) keywords in \(String(format: "%.2f", time / .milliseconds(1))) ms"
)

// The app keeps the model in a file, and loads it as any other.
let folder = try scratchFolder()
defer { try? FileManager.default.removeItem(at: folder) }
try regressor.write(to: folder.appendingPathComponent("Orders.mlmodel"))
let compiled = try MLModel.compileModel(at: folder.appendingPathComponent("Orders.mlmodel"))
defer { try? FileManager.default.removeItem(at: compiled) }
let model = try MLModel(contentsOf: compiled)

var best: [Meal: [String]] = [:]
for meal in Meal.allCases where orders.contains(where: { $0.meal == meal }) {
    print("\nsuggested for \(meal.rawValue):")
    let list = try suggestions(model, for: meal)
    best[meal] = list.prefix(3).map(\.dish.name)
    for (dish, score) in list.prefix(4) {
        let bar = String(repeating: "█", count: max(0, Int(((score + 1) * 12).rounded())))
        print(
            "  \(dish.name.padding(toLength: 24, withPad: " ", startingAt: 0)) \(String(format: "%+.2f", score)) \(bar)"
        )
    }
}

let program = """
    import json, sys
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import Ridge
    import numpy as np
    rows, targets, menu = json.loads(sys.argv[1])
    vectors = DictVectorizer(sparse=False).fit(rows)
    x = vectors.transform(rows)
    scale = np.sqrt((x ** 2).mean(0))
    model = Ridge(alpha=0.01, solver="svd").fit(x / scale, targets)
    print(json.dumps(model.predict(vectors.transform(menu) / scale).tolist()))
    """
let frame = table(orders)
let rows = frame["keywords", [String: Double].self].compactMap { $0 }
let dinner = menu.map { features($0.keywords, .dinner) }
let request = try JSONSerialization.data(
    withJSONObject: [Array(rows), frame["target", Double.self].compactMap { $0 }, dinner]
)
if let answer = peer(program, [String(decoding: request, as: UTF8.self)]) {
    let theirs = try JSONDecoder().decode([Double].self, from: Data(answer.utf8))
    let scores = Dictionary(uniqueKeysWithValues: try suggestions(model, for: .dinner).map { ($0.dish.name, $0.score) })
    let difference = zip(menu, theirs).map { abs((scores[$0.name] ?? .infinity) - $1) }.max() ?? 0
    print("\nlargest difference from scikit-learn's ridge regression: \(String(format: "%.1e", difference))")
    guard difference < 1e-6 else { throw Unexpected("the scores differ from scikit-learn's") }
}

printOwnInput(
    "make demo-orders ARGS=\"lunch='Tomato salad' dinner=Burger dinner='Fish and chips'\"",
    "learns from these orders; the menu: \(menu.map(\.name).joined(separator: ", "))"
)
// The two orders of the demo have known consequences.
if own.isEmpty {
    guard best[.breakfast]?.first == menu[0].name, best[.dinner]?.first == menu[6].name,
        best[.dinner]?.contains("Vegetable curry") == true, best[.breakfast]?.contains("Granola with yoghurt") == true
    else { throw Unexpected("the suggestions do not follow from the orders") }
}
