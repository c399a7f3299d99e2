#!/usr/bin/env node
// A to-do list that works offline and syncs with a Callsign server. ../README.md says how.
//
// Two rules make it safe to kill this at any instant:
//   1. A file is there whole or not at all, and it is on disk before it counts.
//   2. An entry leaves the outbox only when its outcome is in the store.
// So an entry may be sent twice. Its idempotency key makes that harmless.

import {spawnSync} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import {homedir} from 'node:os';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {parseArgs} from 'node:util';

const attemptsMax = 6;                        // of one request, before it is put off
const pauseFirst = 100, pauseLongest = 60e3;  // milliseconds; doubled each time
const answerTimeout = 30e3;
const silenceMax = 60e3;  // a stream without even a heartbeat for so long is dead
const batchMax = 500;
const notItsFault = ['no-such-path', 'account-opaque'];  // an entry does not suffer for these
const statuses = ['pending', 'completed', 'deleted', 'recurring'];

// What the user is told, in a sentence.
class Sorry extends Error {
    exitCode = 1;
}

// Nothing is lost, and nothing is wrong with the request: the same again, later.
class TryLater extends Sorry {
    exitCode = 3;
    constructor(text, wait = 0) {
        super(text);
        this.wait = wait;
    }
}

// ---- files ----

// A name in a folder is on disk only when the folder is.
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

// Whoever reads it, even after a power cut, finds the old file or the new one, whole.
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

// What was noted here and is not settled yet: one file for each entry, named by its time. Nobody
// needs a lock to add one, so `add` works while `follow` runs.
class Outbox {
    refusals = 0;

    constructor(folder) {
        this.path = path.join(folder, 'outbox');
        this.refused = path.join(folder, 'refused');
        for (const each of [folder, this.path, this.refused]) makeFolder(each);
    }

    files() {
        return jsonFiles(this.path);
    }

    // {file, entry}, in the order they were noted.
    entries() {
        const read = this.files().map((file) => ({file, entry: readFile(file, null)}));
        return read.filter((each) => each.entry);  // a sync may just have settled one
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
        ++this.refusals;
        const kept = path.join(this.refused, path.basename(file));
        writeFile(file, {...entry, problem});
        fs.renameSync(file, kept);  // one step: it is never lost, nor here twice
        syncFolder(this.refused);
        syncFolder(this.path);
        warn(`Refused, and kept in ${kept}: ${words(problem)}`);
    }
}

// The tasks as the server says them, and how far the feed was read: one file, one moment.
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

    // The answer to an edit is ahead of the feed, which then tells what was before it.
    put(task) {
        const known = this.tasks[task.uuid];
        if (!known || known.seq <= task.seq) this.tasks[task.uuid] = task;
    }
}

// An edit as a merge patch. That replaces lists as a whole: it depends on the task as it is.
function patchOf(entry, task) {
    if (!entry.addTags.length && !entry.removeTags.length) return entry.set;
    const tags = [...new Set([...task.tags ?? [], ...entry.addTags])];
    return {...entry.set, tags: tags.filter((tag) => !entry.removeTags.includes(tag))};
}

// The tasks as the user left them: the store's, and over them what is not settled yet.
function view(folder) {
    const entries = new Outbox(folder).entries();  // first: what leaves it is in the store by then
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

// ---- the server ----

// Longer each time, and drawn: clients that failed together are not to come back together.
function pause(attempt, atLeast = 0) {
    const usual = pauseFirst * 2 ** Math.min(attempt, 10) * (0.5 + Math.random() / 2);
    return sleep(Math.min(atLeast + usual, pauseLongest));
}

// No answer, or one that says nothing about the request: it is sent again just as it was.
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

    // The answer's head; its body is yet to be read.
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

    // [status, JSON] of a definite answer: 200, or why this request is refused.
    async ask(...request) {
        for (let attempt = 0;; ++attempt) {
            const [status, answer, wait] = await this.askOnce(...request);
            if (status === 401 || status === 403 || notItsFault.includes(answer.code)) {
                throw new Sorry(`The server does not let us in: ${words(answer)}`);
            }
            if (!isPassing(status, answer)) return [status, answer];
            if (attempt + 1 === attemptsMax) {
                throw new TryLater(`The server cannot do it now: ${words(answer)}`, wait);
            }
            await pause(attempt, wait);
        }
    }

    // What is no answer of Callsign's, but a proxy's or of another program, is none.
    async askOnce(method, target, body, headers) {
        try {
            const options = {signal: AbortSignal.timeout(answerTimeout)};
            const response = await this.send(method, target, body, headers, options);
            let text = '';
            for await (const part of response.setEncoding('utf8')) text += part;
            const answer = JSON.parse(text), status = response.statusCode;
            return [status === 200 || answer.code ? status : 0, answer, timeToWait(response)];
        } catch (error) {
            return [0, {detail: `no answer of Callsign's (${error.message || error.code}).`}, 0];
        }
    }
}

// ---- syncing ----

// What the server uses of the format of server-sent events.
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
        this.outbox.settle(made);  // not sooner: it is now that the store has them
        if (waiting.size) {
            throw new TryLater('The server did not get to some new tasks; they are sent again.');
        }
    }

    // The files of those that were made, and the uuids of those without an outcome yet.
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

    // Those that have to be sent again.
    async sendBatch(batch, made) {
        const items = batch.map(({entry}) => ({idempotencyKey: entry.key, task: entry.task}));
        const [status, answer] = await this.server.ask('POST', '/v1/tasks:batchCreate', {items});
        if (status !== 200 && batch.length > 1) {  // too large, or spoilt by one
            const half = batch.length >> 1;
            return [...await this.sendBatch(batch.slice(0, half), made),
                    ...await this.sendBatch(batch.slice(half), made)];
        }
        const results = status === 200 ? answer.results : [{problem: answer}];
        return batch.filter(({file, entry}, n) => {
            const {problem} = results[n];
            if (!problem) return !made.push(file);
            if (isPassing(problem.status, problem)) return true;
            if (problem.code === 'slot-failed') {  // definite: only now may it have a new key
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
                'PATCH', target, patchOf(entry, task), {'If-Match': `"${task.seq}"`});
            if (status === 200) {
                this.store.put(answer);
                this.store.save();
                return this.outbox.settle([file]);
            }
            if (status !== 412) return this.outbox.setAside(file, entry, answer);
            task = null;  // somebody was faster: the same edit, on the task as it is now
        }
        throw new TryLater(`Others keep changing ${entry.uuid}; the edit is sent again.`);
    }

    // To its end, with each page in the store before the next is asked for.
    async readFeed() {
        if (!this.store.cursor) {  // a new store takes the tasks, not their whole history
            await this.listAnew((await this.server.ask('GET', '/v1/changes?after=now'))[1].cursor);
        }
        for (;;) {
            const after = encodeURIComponent(this.store.cursor);
            const [status, page] =
                await this.server.ask('GET', `/v1/changes?after=${after}&limit=1000`);
            if (status === 410) {  // we were away too long, or the server's data was set back
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

    // The cursor is older than the list: what changes meanwhile comes again in the feed.
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
        // Ends the stream when there is something to send; the next goes on where it was.
        const watch = setInterval(() => this.outbox.files().length && ending.abort(), 500);
        try {
            const response = await this.server.send('GET', '/v1/changes/stream', null, headers,
                                                    {timeout: silenceMax, signal: ending.signal});
            if (response.statusCode !== 200) {  // of a 410, too, the next sync knows what to do
                response.destroy();
                throw new TryLater(`Nobody can follow now (status ${response.statusCode}).`,
                                   timeToWait(response));
            }
            this.failures = 0;
            for await (const [kind, data] of events(response)) this.takeEvent(kind, data);
        } catch (error) {
            if (!error.code) throw error;  // it is none of the network
        } finally {
            clearInterval(watch);
        }
        if (!this.outbox.files().length) throw new TryLater('The connection was lost.');
    }

    takeEvent(kind, data) {
        if (kind === 'end') throw new TryLater(`The server ended the stream: ${words(data)}`);
        if (kind === 'change') this.hear(data);
        if (data.cursor !== this.store.cursor) {  // a heartbeat has one, too
            this.store.cursor = data.cursor;
            this.store.save();
        }
    }
}

// ---- commands ----

// Tasks are other people's text: nothing in it is to command the terminal.
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

// Those that were given. "" takes one away, which is null in a merge patch.
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
    for (const file of jsonFiles(path.join(folder, 'refused'))) {
        say(`Refused: ${file}: ${words(readFile(file, {}).problem ?? {})}`);
    }
}

function show(folder) {
    const {tasks} = new Store(folder);
    console.log(JSON.stringify(Object.keys(tasks).sort().map((uuid) => tasks[uuid]), null, 1));
}

async function sync(folder, args) {
    // One at a time. The lock is the open file's: the kernel frees it, however we end. Node has
    // no call for it, so the program flock (of util-linux) locks the file that it inherits.
    const file = fs.openSync(path.join(folder, 'lock'), 'w', 0o600);
    const stdio = ['ignore', 'ignore', 'inherit', file];
    const {status, error} = spawnSync('flock', ['--nonblock', '3'], {stdio});
    if (error) throw error;
    if (status !== 0) {
        throw new TryLater(`Another todo syncs ${folder}, and sends what you noted.`);
    }
    const syncer = new Syncer(folder, account(folder, args));
    if (args.command === 'follow') await syncer.follow();
    await syncer.sync();
    return syncer.outbox.refusals ? 1 : 0;
}

const commands = {init, add, edit, done: edit, list: showList, show, sync, follow: sync};
const usage = `usage: todo [--dir DIR] COMMAND
  init --server URL --token TOKEN | add TEXT | done REF | edit REF | list | sync | follow | show
  A REF is a key or a uuid. Fields: --project --due --tag; of edit also --description --untag`;

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
