import ArgumentParser
import CompilerCommands
import EncryptedCommands

CompilerTool<KeyFileEncryption>.main()
