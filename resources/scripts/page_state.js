// What a document's origin keeps in the browser: read as JSON, and put back. Lives in our world as `__backstepState`.
(() => {
  if (globalThis.__backstepState) return;
  const LARGEST = 512 * 1024;   // characters of one kind of storage that are kept

  const entries = storage => Object.fromEntries(Object.keys(storage).map(key => [key, storage.getItem(key)]));

  // A promise for an IndexedDB request.
  const done = request => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("it is in use"));
  });

  // Values that JSON cannot hold would come back as something else.
  const plain = value => {
    if (value === null || ["string", "boolean"].includes(typeof value)) return true;
    if (typeof value === "number") return Number.isFinite(value);
    if (Array.isArray(value)) return value.every(plain);
    return typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype
      && Object.values(value).every(plain);
  };

  async function readDatabase(name) {
    const database = await done(indexedDB.open(name));
    try {
      const stores = [];
      for (const label of database.objectStoreNames) {
        const store = database.transaction(label).objectStore(label);
        const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
        if (!plain(values) || !plain(keys)) throw new Error(`${name}/${label} contains values that are not JSON`);
        stores.push({
          name: label, keyPath: store.keyPath, autoIncrement: store.autoIncrement, keys, values,
          indexes: [...store.indexNames].map(index => {
            const {name, keyPath, unique, multiEntry} = store.index(index);
            return {name, keyPath, unique, multiEntry};
          }),
        });
      }
      return {name, version: database.version, stores};
    } finally { database.close(); }
  }

  // The document with what its fields hold. Its frames tell theirs themselves, each from our world of its own: to look
  // into them from here would make a second one there.
  const content = () => __backstep.digest([
    document.documentElement ? document.documentElement.outerHTML : "",
    ...[...document.querySelectorAll("input, textarea, select, option")].map(one =>
      [one.value, one.checked, one.indeterminate, one.selected].join(" ")),
  ].join("\n"));

  async function read() {
    // What stays null could not be read.
    const found = {local: null, session: null, databases: null, unread: [], content: content()};
    if (!/^https?:$/.test(location.protocol)) return {content: found.content};
    for (const [part, storage] of [["local", () => localStorage], ["session", () => sessionStorage]]) {
      try {
        const all = entries(storage());
        if (JSON.stringify(all).length > LARGEST) found.unread.push(`${part} storage is too large`);
        else found[part] = all;
      } catch (error) { found.unread.push(`${part} storage: ${error.message}`); }
    }
    try {
      const databases = [];
      for (const {name} of await indexedDB.databases()) databases.push(await readDatabase(name));
      const text = JSON.stringify(databases);
      if (text.length > LARGEST) found.unread.push("IndexedDB is too large");
      else found.databases = text;
    } catch (error) { found.unread.push(`IndexedDB: ${error.message}`); }
    return found;
  }

  async function putDatabase({name, version, stores}) {
    await done(indexedDB.deleteDatabase(name));
    const request = indexedDB.open(name, version);
    request.onupgradeneeded = () => {
      for (const {name: label, keyPath, autoIncrement, indexes} of stores) {
        const store = request.result.createObjectStore(label, {keyPath, autoIncrement});
        for (const index of indexes) {
          store.createIndex(index.name, index.keyPath, {unique: index.unique, multiEntry: index.multiEntry});
        }
      }
    };
    const database = await done(request);
    try {
      for (const {name: label, keyPath, keys, values} of stores) {
        const store = database.transaction(label, "readwrite").objectStore(label);
        await Promise.all(values.map((value, at) => done(keyPath === null ? store.put(value, keys[at]) : store.put(value))));
      }
    } finally { database.close(); }
  }

  // What is null is left as it is.
  async function put({local, session, databases}) {
    const failed = [];
    for (const [part, storage, values] of [
      ["local storage", () => localStorage, local], ["session storage", () => sessionStorage, session],
    ]) {
      if (values === null) continue;
      try {
        storage().clear();
        for (const [key, value] of Object.entries(values)) storage().setItem(key, value);
      } catch (error) { failed.push(`${part}: ${error.message}`); }
    }
    if (databases === null) return failed;
    try {
      const wanted = JSON.parse(databases);
      for (const {name} of await indexedDB.databases()) {
        if (!wanted.some(one => one.name === name)) await done(indexedDB.deleteDatabase(name));
      }
      for (const one of wanted) await putDatabase(one);
    } catch (error) { failed.push(`IndexedDB: ${error.message}`); }
    return failed;
  }

  globalThis.__backstepState = {read, put, content};
})();
