// Opens recordings with the reader that MCAP's authors keep for JavaScript, and with nothing of
// ours: it is told the files only. Says what it found, one JSON object a line.
//
//     node open.mjs HOME FILE...
//
// HOME has the packages in its node_modules. Each message is decoded by the schema that its file
// carries: protobuf by the file's own descriptors; JSON by JSON Schema, as far as the fields that a
// schema demands and the kinds it tells apart.

import { open } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { zstdDecompressSync } from "node:zlib";

const [home, ...files] = process.argv.slice(2);
const from = (path) => import(pathToFileURL(`${home}/node_modules/${path}`).href);
const { McapIndexedReader, McapStreamReader } = await from("@mcap/core/dist/esm/index.js");
const { createFileRegistry, fromBinary, toBinary } = await from(
  "@bufbuild/protobuf/dist/esm/index.js",
);
const { FileDescriptorSetSchema } = await from("@bufbuild/protobuf/dist/esm/wkt/index.js");

const decompressHandlers = { zstd: (packed) => zstdDecompressSync(packed) };

class Bytes {
  constructor(data) {
    this.data = data;
  }
  async size() {
    return BigInt(this.data.byteLength);
  }
  async read(offset, size) {
    return this.data.subarray(Number(offset), Number(offset + size));
  }
}

function decoder(schema) {
  if (schema.encoding === "protobuf") {
    const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, schema.data));
    const kind = registry.getMessage(schema.name);
    if (kind === undefined) throw new Error(`${schema.name} is not in its own schema`);
    return (data) => {
      // To know that nothing of it is left over, it is written again, unknown fields and all.
      const size = toBinary(kind, fromBinary(kind, data)).byteLength;
      if (size > data.byteLength) throw new Error(`${schema.name} is longer when written again`);
    };
  }
  if (schema.encoding !== "jsonschema") throw new Error(`nobody knows ${schema.encoding}`);
  const described = JSON.parse(new TextDecoder().decode(schema.data));
  return (data) => demand(described, described, JSON.parse(new TextDecoder().decode(data)));
}

/** Whether a value has what its schema demands; follows what one value can be only. */
function demand(root, schema, value) {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1);
    if (root.$defs[name] === undefined) throw new Error(`${name} is not in the schema`);
    return demand(root, root.$defs[name], value);
  }
  if (schema.discriminator !== undefined && schema.anyOf !== undefined) {
    const kind = value[schema.discriminator.propertyName];
    const reference = schema.discriminator.mapping[kind];
    if (reference === undefined) throw new Error(`the schema knows no ${kind}`);
    return demand(root, { $ref: reference }, value);
  }
  if (schema.type !== "object" || schema.properties === undefined) return undefined;
  for (const field of schema.required ?? []) {
    if (!(field in value)) throw new Error(`${schema.title} has no ${field}`);
  }
  for (const [field, one] of Object.entries(value)) {
    const known = schema.properties[field];
    if (known === undefined) throw new Error(`${schema.title} has ${field}, which it may not`);
    demand(root, known, one);
  }
  return undefined;
}

class Found {
  schemas = new Map();
  channels = new Map();
  decoders = new Map();
  counts = {};
  sequences = {};

  take(record) {
    if (record.type === "Schema") {
      this.schemas.set(record.id, record);
    } else if (record.type === "Channel") {
      this.channels.set(record.id, record);
    } else if (record.type === "Message") {
      const channel = this.channels.get(record.channelId);
      if (!this.decoders.has(channel.schemaId)) {
        this.decoders.set(channel.schemaId, decoder(this.schemas.get(channel.schemaId)));
      }
      this.decoders.get(channel.schemaId)(record.data);
      this.counts[channel.topic] = (this.counts[channel.topic] ?? 0) + 1;
      this.sequences[channel.topic] = record.sequence;
    }
  }

  told() {
    const topics = {};
    for (const channel of this.channels.values()) {
      const schema = this.schemas.get(channel.schemaId);
      // Those that no message uses are read too.
      decoder(schema);
      topics[channel.topic] = [channel.messageEncoding, schema.encoding, schema.name];
    }
    return { topics, counts: this.counts, sequences: this.sequences };
  }
}

async function indexed(data) {
  const reader = await McapIndexedReader.Initialize({
    readable: new Bytes(data),
    decompressHandlers,
  });
  const found = new Found();
  for (const schema of reader.schemasById.values()) found.take(schema);
  for (const channel of reader.channelsById.values()) found.take(channel);
  let last = 0n;
  for await (const message of reader.readMessages({ validateCrcs: true })) {
    if (message.logTime < last) throw new Error("messages are not in order of time");
    last = message.logTime;
    found.take(message);
  }
  const statistics = {};
  for (const [id, count] of reader.statistics.channelMessageCounts) {
    statistics[reader.channelsById.get(id).topic] = Number(count);
  }
  return { ...found.told(), statistics, chunks: reader.chunkIndexes.length, ...header(reader) };
}

const header = ({ header: { profile, library } }) => ({ profile, library });

/** As a stream, up to where it ends: a file without an end has no index. */
function streamed(data) {
  const reader = new McapStreamReader({ decompressHandlers, validateCrcs: true });
  const found = new Found();
  reader.append(data);
  for (let record; (record = reader.nextRecord()); ) found.take(record);
  return { ...found.told(), left: reader.bytesRemaining(), ended: reader.done() };
}

for (const path of files) {
  const file = await open(path);
  const data = new Uint8Array(await file.readFile());
  await file.close();
  const told = { streamed: streamed(data) };
  if (told.streamed.ended) told.indexed = await indexed(data);
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
