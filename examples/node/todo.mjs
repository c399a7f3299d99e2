#!/usr/bin/env node
// An offline-capable to-do list that syncs with a Callsign server; see ../README.md.
//
// Two rules make it safe to kill this program at any instant:
//   1. Files are replaced atomically, and are durable before they count.
//   2. An entry leaves the outbox only when its outcome is in the store.
// So an entry may be sent twice; its idempotency key makes that harmless.

import {spawnSync} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import {homedir} from 'node:os';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {parseArgs} from 'node:util';

const attemptsMax = 6;                        // per request, before it is postponed
const pauseFirst = 100, pauseLongest = 60e3;  // milliseconds; exponential back-off
const answerTimeout = 30e3;
const silenceMax = 60e3;  // a stream without a heartbeat for this long is dead
const batchMax = 500;
const notItsFault = ['no-such-path', 'account-opaque'];  // rejections not caused by an entry
const statuses = ['pending', 'completed', 'deleted', 'recurring'];

// An error for the user, as a sentence.
class Sorry extends Error {
    exitCode = 1;
}

// A temporary failure; nothing is lost, and the same request is to be sent later.
class TryLater extends Sorry {
    exitCode = 3;
    constructor(text, wait = 0) {
        super(text);
        this.wait = wait;
    }
}

// ---- files ----

// A directory entry is durable only after a sync of the directory.
function syncFolder(folder) {
    const fd = fs.openSync(folder);
    fs.fsyncSync(fd);
    fs.closeSync(fd);
}

function makeFolder(folder) {
    if (fs.existsSync(folder)) return;
    fs.mkdirSync(folder, {mode: 0o700, recursive: true});
    syncFolder(path.dirname(folder));
}

// Atomic: readers find the old file or the new one, even after a power cut.
function writeFile(file, value) {
    const fd = fs.openSync(file + '.tmp', 'w', 0o600);
    fs.writeFileSync(fd, JSON.stringify(value));
    fs.fsyncSync(fd);
    fs.closeSync(fd);
    fs.renameSync(file + '.tmp', file);
    syncFolder(path.dirname(file));
}

function readFile(file, otherwise) {
    try {
        return JSON.parse(fs.readFileSync(file, 'utf8'));
    } catch (error) {
        if (error.code === 'ENOENT') return otherwise;
        if (error.code) throw error;
        throw new Sorry(`${file} is damaged; please move it away.`);
    }
}

function jsonFiles(folder) {
    const names = fs.readdirSync(folder).filter((name) => name.endsWith('.json'));
    return names.sort().map((name) => path.join(folder, name));
}

// Local changes that are not settled yet: one file per entry, named by its time. Adding one needs
// no lock, so `add` works while `follow` runs.
class Outbox {
    rejections = 0;

    constructor(folder) {
        this.path = path.join(folder, 'outbox');
        this.rejected = path.join(folder, 'rejected');
        for (const each of [folder, this.path, this.rejected]) makeFolder(each);
    }

    files() {
        return jsonFiles(this.path);
    }

    // {file, entry}, in the order of their creation.
    entries() {
        const read = this.files().map((file) => ({file, entry: readFile(file, null)}));
        return read.filter((each) => each.entry);  // a concurrent sync may have settled an entry
    }

    note(entry) {
        const last = Math.max(0, ...this.files().map((file) => parseInt(path.basename(file), 10)));
        const now = Math.max(Date.now(), last + 1);  // in order, even if the clock was set back
        const name = `${String(now).padStart(15, '0')}-${randomUUID()}.json`;
        writeFile(path.join(this.path, name), entry);
    }

    settle(files) {
        for (const file of files) fs.rmSync(file, {force: true});
        syncFolder(this.path);
    }

    setAside(file, entry, problem) {
        ++this.rejections;
        const kept = path.join(this.rejected, path.basename(file));
        writeFile(file, {...entry, problem});
        fs.renameSync(file, kept);  // atomic: neither lost nor duplicated
        syncFolder(this.rejected);
        syncFolder(this.path);
        warn(`Rejected, and kept in ${kept}: ${words(problem)}`);
    }
}

// The server's tasks and the cursor of the feed: one file, so they are consistent.
class Store {
    constructor(folder) {
        this.path = path.join(folder, 'store.json');
        const saved = readFile(this.path, {cursor: null, tasks: {}});
        this.cursor = saved.cursor;
        this.tasks = saved.tasks;
    }

    save() {
        writeFile(this.path, {cursor: this.cursor, tasks: this.tasks});
    }

    // The response to an edit is ahead of the feed, whose older changes must not overwrite it.
    put(task) {
        const known = this.tasks[task.uuid];
        if (!known || known.seq <= task.seq) this.tasks[task.uuid] = task;
    }
}

// An edit as a merge patch. It replaces lists as a whole, so it depends on the current task.
function patchOf(entry, task) {
    if (!entry.addTags.length && !entry.removeTags.length) return entry.set;
    const tags = [...new Set([...task.tags ?? [], ...entry.addTags])];
    return {...entry.set, tags: tags.filter((tag) => !entry.removeTags.includes(tag))};
}

// The tasks as the user sees them: the store's, with unsettled entries applied.
function view(folder) {
    const entries = new Outbox(folder).entries();  // first: settled entries are in the store
    const {tasks} = new Store(folder);
    for (const {entry} of entries) {
        if (entry.op === 'create') {
            tasks[entry.task.uuid] ??= {status: 'pending', ...entry.task};
        } else if (tasks[entry.uuid]) {
            const changed = {...tasks[entry.uuid], ...patchOf(entry, tasks[entry.uuid])};
            tasks[entry.uuid] =
                Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null));
        }
    }
    return Object.values(tasks);
}

// ---- server ----

// Exponential back-off with jitter, so that clients that failed together do not retry together.
function pause(attempt, atLeast = 0) {
    const usual = pauseFirst * 2 ** Math.min(attempt, 10) * (0.5 + Math.random() / 2);
    return sleep(Math.min(atLeast + usual, pauseLongest));
}

// No response, or one that is unrelated to the request: the same request is sent again.
function isPassing(status, problem) {
    const passing = status === 0 || status >= 500 || status === 408 || status === 429;
    return passing || problem.code === 'request-in-progress';
}

function timeToWait(response) {
    const text = response.headers['retry-after'] ?? '';
    return /^\d+$/.test(text) ? 1000 * text : 0;
}

function words(problem) {
    const faults = (problem.errors ?? []).map((each) => `${each.field ?? ''}: ${each.detail}`);
    return faults.join(' ') || problem.detail || problem.title || 'no reason given';
}

class Server {
    constructor(url, token) {
        this.url = new URL(url);
        this.token = token.trim();
        if (!/^https?:$/.test(this.url.protocol)) throw new Sorry(`${url} is not a server's URL.`);
    }

    // Returns the response's head; its body is still to be read.
    send(method, target, body, headers = {}, options = {}) {
        const fields = {Authorization: `Bearer ${this.token}`, ...headers};
        if (body) fields['Content-Type'] = 'application/json';
        const {request} = this.url.protocol === 'https:' ? https : http;
        const whole = new URL(this.url.pathname.replace(/\/$/, '') + target, this.url);
        return new Promise((resolve, reject) => {
            const sent = request(whole, {method, headers: fields, agent: false, ...options});
            sent.on('response', resolve).on('error', reject);
            sent.on('timeout', () => sent.destroy());
            sent.end(body && JSON.stringify(body));
        });
    }

    // Returns [status, JSON] of a definite response: 200, or the reason of the rejection.
    async ask(...request) {
        for (let attempt = 0;; ++attempt) {
            const [status, answer, wait] = await this.askOnce(...request);
            if (status === 401 || status === 403 || notItsFault.includes(answer.code)) {
                throw new Sorry(`The server denies access: ${words(answer)}`);
            }
            if (!isPassing(status, answer)) return [status, answer];
            if (attempt + 1 === attemptsMax) {
                throw new TryLater(`The server is temporarily unavailable: ${words(answer)}`, wait);
            }
            await pause(attempt, wait);
        }
    }

    // Responses of proxies or other programs count as no response.
    async askOnce(method, target, body, headers) {
        try {
            const options = {signal: AbortSignal.timeout(answerTimeout)};
            const response = await this.send(method, target, body, headers, options);
            let text = '';
            for await (const part of response.setEncoding('utf8')) text += part;
            const answer = JSON.parse(text), status = response.statusCode;
            return [status === 200 || answer.code ? status : 0, answer, timeToWait(response)];
        } catch (error) {
            return [0, {detail: `no response from Callsign (${error.message || error.code}).`}, 0];
        }
    }
}

// ---- syncing ----

// The part of the server-sent events format that the server uses.
async function* events(stream) {
    let unread = '';
    for await (const part of stream.setEncoding('utf8')) {
        const whole = (unread + part).split('\n\n');
        unread = whole.pop();
        for (const event of whole) {
            const fields = new Map(event.split('\n').map((line) => {
                const colon = line.indexOf(': ');
                return [line.slice(0, colon), line.slice(colon + 2)];
            }));
            if (fields.has('data')) yield [fields.get('event'), JSON.parse(fields.get('data'))];
        }
    }
}

class Syncer {
    failures = 0;

    constructor(folder, server) {
        this.outbox = new Outbox(folder);
        this.store = new Store(folder);
        this.server = server;
    }

    async sync() {
        const entries = this.outbox.entries();
        const creations = entries.filter(({entry}) => entry.op === 'create');
        const [made, waiting] = await this.sendCreations(creations);
        for (const {file, entry} of entries) {
            if (entry.op === 'edit' && !waiting.has(entry.uuid)) await this.sendEdit(file, entry);
        }
        await this.readFeed();
        this.outbox.settle(made);  // only now does the store have them
        if (waiting.size) {
            throw new TryLater('Some new tasks were not created yet; they are sent again.');
        }
    }

    // Returns the files of successful creations, and the UUIDs of those with unknown outcome.
    async sendCreations(entries) {
        const made = [];
        for (let attempt = 0; entries.length && attempt < attemptsMax; ++attempt) {
            if (attempt) await pause(attempt);
            const again = [];
            for (let i = 0; i < entries.length; i += batchMax) {
                again.push(...await this.sendBatch(entries.slice(i, i + batchMax), made));
            }
            entries = again;
        }
        return [made, new Set(entries.map(({entry}) => entry.task.uuid))];
    }

    // Returns the entries that have to be sent again.
    async sendBatch(batch, made) {
        const items = batch.map(({entry}) => ({idempotencyKey: entry.key, task: entry.task}));
        const [status, answer] = await this.server.ask('POST', '/v1/tasks:batchCreate', {items});
        if (status !== 200 && batch.length > 1) {  // too large, or one item is invalid
            const half = batch.length >> 1;
            return [...await this.sendBatch(batch.slice(0, half), made),
                    ...await this.sendBatch(batch.slice(half), made)];
        }
        const results = status === 200 ? answer.results : [{problem: answer}];
        return batch.filter(({file, entry}, n) => {
            const {problem} = results[n];
            if (!problem) return !made.push(file);
            if (isPassing(problem.status, problem)) return true;
            if (problem.code === 'slot-failed') {  // definite: only now is a new key allowed
                entry.key = randomUUID();
                writeFile(file, entry);
                return true;
            }
            this.outbox.setAside(file, entry, problem);
            return false;
        });
    }

    async sendEdit(file, entry) {
        const target = `/v1/tasks/${entry.uuid}`;
        let task = this.store.tasks[entry.uuid];
        for (let attempt = 0; attempt < attemptsMax; ++attempt) {
            if (!task) {
                const [status, found] = await this.server.ask('GET', target);
                if (status !== 200) return this.outbox.setAside(file, entry, found);
                task = found;
            }
            const [status, answer] = await this.server.ask(
                'PATCH', target, patchOf(entry, task), {'If-Match': task.etag});
            if (status === 200) {
                this.store.put(answer);
                this.store.save();
                return this.outbox.settle([file]);
            }
            if (status !== 412) return this.outbox.setAside(file, entry, answer);
            task = null;  // a conflict: repeat the edit on the current task
        }
        throw new TryLater(`${entry.uuid} changes too often; the edit is sent again.`);
    }

    // Reads to the end of the feed; each page is stored before the next request.
    async readFeed() {
        if (!this.store.cursor) {  // a new store needs the tasks, not their history
            await this.listAnew((await this.server.ask('GET', '/v1/changes?after=now'))[1].cursor);
        }
        for (;;) {
            const after = encodeURIComponent(this.store.cursor);
            const [status, page] =
                await this.server.ask('GET', `/v1/changes?after=${after}&limit=1000`);
            if (status === 410) {  // an expired cursor, or a restored server
                await this.listAnew(page.cursor);
                continue;
            }
            if (status !== 200) throw new Sorry(`The feed cannot be read: ${words(page)}`);
            if (!page.changes?.length && page.cursor === this.store.cursor) return;
            for (const change of page.changes ?? []) this.hear(change);
            this.store.cursor = page.cursor;
            this.store.save();
        }
    }

    // The cursor is older than the list: the feed repeats changes made since.
    async listAnew(cursor) {
        const tasks = {};
        let pageToken = '';
        do {
            const query = new URLSearchParams({pageSize: 500, pageToken});
            for (const status of statuses) query.append('status', status);
            const [status, page] = await this.server.ask('GET', `/v1/tasks?${query}`);
            if (status !== 200) throw new Sorry(`The tasks cannot be listed: ${words(page)}`);
            for (const task of page.tasks ?? []) tasks[task.uuid] = task;
            pageToken = page.nextPageToken;
        } while (pageToken);
        Object.assign(this.store, {tasks, cursor});
        this.store.save();
    }

    hear(change) {
        const {uuid, key = '-', status = 'purged', description = ''} = change.task;
        if (change.purged) delete this.store.tasks[uuid];
        else this.store.put(change.task);
        say(`${key}  ${status}  ${description}  (by ${change.by || 'the server'})`);
    }

    async follow() {
        for (;;) {
            try {
                await this.sync();
                await this.readStream();
            } catch (why) {
                if (!(why instanceof TryLater)) throw why;
                warn(why.message);
                await pause(this.failures++, why.wait);
            }
        }
    }

    // Returns when there is something to send. TryLater: the stream has ended.
    async readStream() {
        const headers = {'Last-Event-ID': this.store.cursor, Accept: 'text/event-stream'};
        const ending = new AbortController();
        // Ends the stream when there is something to send; the next one resumes from the cursor.
        const watch = setInterval(() => this.outbox.files().length && ending.abort(), 500);
        try {
            const response = await this.server.send('GET', '/v1/changes/stream', null, headers,
                                                    {timeout: silenceMax, signal: ending.signal});
            if (response.statusCode !== 200) {  // the next sync also handles 410
                response.destroy();
                throw new TryLater(`The feed is not available (status ${response.statusCode}).`,
                                   timeToWait(response));
            }
            this.failures = 0;
            for await (const [kind, data] of events(response)) this.takeEvent(kind, data);
        } catch (error) {
            if (!error.code) throw error;  // not a network error
        } finally {
            clearInterval(watch);
        }
        if (!this.outbox.files().length) throw new TryLater('The connection was lost.');
    }

    takeEvent(kind, data) {
        if (kind === 'end') throw new TryLater(`The server ended the stream: ${words(data)}`);
        if (kind === 'change') this.hear(data);
        if (data.cursor !== this.store.cursor) {  // heartbeats have a cursor, too
            this.store.cursor = data.cursor;
            this.store.save();
        }
    }
}

// ---- commands ----

// Other users write the tasks' texts: no control characters may reach the terminal.
const plain = (text) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ');
const say = (text) => console.log(plain(text));
const warn = (text) => console.error(plain(text));

function account(folder, args) {
    const saved = readFile(path.join(folder, 'config.json'), {});
    const server = args.server || process.env.CALLSIGN_SERVER || saved.server;
    const token = args.token || process.env.CALLSIGN_TOKEN || saved.token;
    if (!server || !token) {
        throw new Sorry('No server yet: todo --dir DIR init --server URL --token TOKEN');
    }
    return new Server(server, token);
}

function init(folder, args) {
    const {url, token} = account(folder, args);
    writeFile(path.join(folder, 'config.json'), {server: url.href, token});
}

// Returns the given fields. "" removes one: null in a merge patch.
function fieldsOf(args, ...names) {
    const given = names.filter((name) => args[name] !== undefined);
    return Object.fromEntries(given.map((name) => [name, args[name] || null]));
}

function add(folder, args) {
    const task = {uuid: randomUUID(), description: args.words, tags: args.tag,
                  entry: new Date().toISOString(), ...fieldsOf(args, 'project', 'due')};
    new Outbox(folder).note({op: 'create', key: randomUUID(), task});
    say(task.uuid);
}

function edit(folder, args) {
    const set = args.command === 'done' ? {status: 'completed'} :
                                          fieldsOf(args, 'description', 'project', 'due');
    const tasks = view(folder), ref = args.words.toLowerCase();
    let found = tasks.filter(({uuid, key}) => ref === uuid || ref === key?.toLowerCase());
    if (!found.length && ref.length >= 4) found = tasks.filter((task) => task.uuid.startsWith(ref));
    if (found.length !== 1) {
        throw new Sorry(`${found.length ? 'More than one' : 'No'} task here is called ${ref}.`);
    }
    new Outbox(folder).note(
        {op: 'edit', uuid: found[0].uuid, set, addTags: args.tag, removeTags: args.untag});
}

function showList(folder) {
    const pending = view(folder).filter((task) => task.status === 'pending');
    const place = (task) => task.number ?? Number.MAX_SAFE_INTEGER;
    for (const task of pending.sort((a, b) => place(a) - place(b))) {
        const more = [task.project, ...task.tags ?? [], task.due].filter(Boolean).join(' ');
        const key = (task.key ?? '-').padEnd(10);
        say(`${key} ${task.uuid.slice(0, 8)}  ${task.description ?? ''}  ${more}`);
    }
    for (const file of jsonFiles(path.join(folder, 'rejected'))) {
        say(`Rejected: ${file}: ${words(readFile(file, {}).problem ?? {})}`);
    }
}

function show(folder) {
    const {tasks} = new Store(folder);
    console.log(JSON.stringify(Object.keys(tasks).sort().map((uuid) => tasks[uuid]), null, 1));
}

async function sync(folder, args) {
    // One sync at a time. The open file holds the lock: the kernel releases it when the process
    // ends. Node has no call for it, so the program flock (of util-linux) locks the inherited file.
    const file = fs.openSync(path.join(folder, 'lock'), 'w', 0o600);
    const stdio = ['ignore', 'ignore', 'inherit', file];
    const {status, error} = spawnSync('flock', ['--nonblock', '3'], {stdio});
    if (error) throw error;
    if (status !== 0) {
        throw new TryLater(`Another todo is syncing ${folder} and sends your entries.`);
    }
    const syncer = new Syncer(folder, account(folder, args));
    if (args.command === 'follow') await syncer.follow();
    await syncer.sync();
    return syncer.outbox.rejections ? 1 : 0;
}

const commands = {init, add, edit, done: edit, list: showList, show, sync, follow: sync};
const usage = `usage: todo [--dir DIR] COMMAND
  init --server URL --token TOKEN | add TEXT | done REF | edit REF | list | sync | follow | show
  REF is a key or a UUID. Fields: --project --due --tag; for edit also --description --untag`;

function parse() {
    const text = {type: 'string'}, texts = {type: 'string', multiple: true, default: []};
    const {values, positionals} = parseArgs({
        allowPositionals: true,
        options: {
            dir: {type: 'string', default: path.join(homedir(), '.callsign-todo')},
            server: text, token: text, description: text, project: text, due: text,
            tag: texts, untag: texts, json: {type: 'boolean'},
        },
    });
    const [command = '', ...rest] = positionals;
    return {...values, command, words: rest.join(' ')};
}

try {
    const args = parse();
    if (!Object.hasOwn(commands, args.command)) throw new Sorry(usage);
    makeFolder(args.dir);
    process.exitCode = (await commands[args.command](args.dir, args)) ?? 0;
} catch (error) {
    console.error(`todo: ${error.message}`);
    process.exitCode = error.exitCode ?? 1;
}
