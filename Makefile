.PHONY: demo test bench format setup build conformance zoo

setup:
	@scripts/setup

build: setup
	swift build -c release

demo: setup
	@scripts/demo

test: setup
	@scripts/test

bench: setup
	@Benchmarks/run

format:
	swift format --in-place --recursive --parallel Sources Tests Package.swift

conformance: setup
	@scripts/conformance --table

zoo: setup
	@scripts/zoo-check
