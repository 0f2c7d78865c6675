// What an app of an existing Firebase project does, with the published SDK and nothing of ours.
//
// Reads one JSON object from the command line: {server, auth, token?, calls: [[operation, data]]}.
// Writes one JSON line: for each call {data} or {name, code, message, details}.
import { initializeApp } from "firebase/app";
import { connectAuthEmulator, initializeAuth, inMemoryPersistence, signInWithCustomToken } from "firebase/auth";
import { getFunctions, httpsCallable } from "firebase/functions";

const { server, auth: authAddress, token, calls } = JSON.parse(process.argv[2]);
const app = initializeApp({ apiKey: "none", projectId: "pidjin", appId: "1:1:web:1" });
const auth = initializeAuth(app, { persistence: inMemoryPersistence });
connectAuthEmulator(auth, authAddress, { disableWarnings: true });
// A custom domain instead of a region: operations are posted to <server>/callable/<operation>.
const functions = getFunctions(app, `${server}/callable`);

if (token) await signInWithCustomToken(auth, token);
const results = [];
for (const [operation, data] of calls) {
  try {
    results.push({ data: (await httpsCallable(functions, operation)(data)).data });
  } catch (error) {
    const { name, code, message, details = null } = error;
    results.push({ name, code, message, details });
  }
}
process.stdout.write(JSON.stringify(results) + "\n");
process.exit(0);
