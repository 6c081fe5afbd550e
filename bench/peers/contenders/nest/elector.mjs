// A candidate of nest-leader-election in a process of its own, as its documentation shows without NestJS. It prints
// "leads" when it leads; a line of input has it release and print "released"; the end of its input kills it.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import process from "node:process";

const [modules, url, lockId] = process.argv.slice(2);
const require = createRequire(modules + "/elector.cjs");
require("reflect-metadata");
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
const { DataSource } = await load("typeorm");
const { LeaderElectorCore, createLeaderLeaseEntity } = await load("nest-leader-election");

const print = (line) => process.stderr.write(line + "\n"); // the library prints to the standard output
console.log = () => {};

const source = new DataSource({ type: "postgres", url, entities: [createLeaderLeaseEntity("public")] });
await source.initialize();
let elector;
for (let attempt = 1; elector === undefined; attempt++) {
  try {
    elector = await LeaderElectorCore.create(source, { lockId: Number(lockId), schema: "public" });
  } catch (error) {
    if (attempt === 5) throw error; // it creates its table, which fails while another process does
  }
}

const watching = setInterval(() => {
  if (elector.amILeader()) {
    clearInterval(watching);
    print("leads");
  }
}, 1);

process.stdin.on("data", async () => {
  await elector.release();
  print("released");
});
process.stdin.on("end", () => process.kill(process.pid, "SIGKILL"));
