import { join } from "node:path";
import ts from "typescript";
import { rootDirectory } from "./repository.ts";

/** What the compiler says of a program, by the settings of this project. */
export function complaintsAbout(path: string): string[] {
  const file = join(rootDirectory, "tsconfig.json");
  const { config } = ts.readConfigFile(file, (name) => ts.sys.readFile(name));
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, rootDirectory);
  const typeRoots = [join(rootDirectory, "node_modules/@types")];
  return ts
    .getPreEmitDiagnostics(ts.createProgram([path], { ...options, typeRoots }))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
