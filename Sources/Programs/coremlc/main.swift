import ArgumentParser
import CompilerCommands

CompilerTool<WithoutEncryption>.main()
