import CommandHelp

typealias UsageError = CommandHelp.UsageError
typealias OptionSpec = CommandHelp.OptionSpec
typealias ParsedArguments = CommandHelp.ParsedArguments
typealias ArgumentParser = CommandHelp.ArgumentParser
