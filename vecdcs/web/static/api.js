// Calls of the JSON interface; a refusal becomes an Error with its message.

export async function post(path, body) {
  return read(await fetch(`/api/${path}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  }));
}

export async function get(path) {
  return read(await fetch(`/api/${path}`));
}

async function read(response) {
  const found = await response.json().catch(() => ({ detail: `the server answered ${response.status}` }));
  if (!response.ok) throw new Error(message(found.detail));
  return found;
}

function message(detail) {
  if (!Array.isArray(detail)) return String(detail);
  return detail.map((problem) => `${problem.loc.slice(1).join(" ")}: ${problem.msg}`).join("\n");
}
