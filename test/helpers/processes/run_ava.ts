import { setFlagsFromString } from "node:v8";

/**
 * Runs AVA, with threads that have room for what a test file makes: V8 begins with a small space for
 * young objects, and while modules load it collects garbage again and again to find nearly none. A
 * thread has the flags of its process. As options of node AVA would pass them on to the thread,
 * which refuses them.
 */

const ROOM_MB = 32;

setFlagsFromString(`--min-semi-space-size=${ROOM_MB}`);
setFlagsFromString(`--max-semi-space-size=${ROOM_MB}`);
await import(new URL("../../../node_modules/ava/entrypoints/cli.js", import.meta.url).href);
