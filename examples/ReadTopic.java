import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.InflaterOutputStream;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Prints the records of a topic of asof, decrypted: docs/reference/topics.md says what this program knows.
 *
 * <pre>java -cp 'kafka-clients.jar:slf4j-api.jar' examples/ReadTopic.java HOST:PORT TOPIC KEYS</pre>
 *
 * KEYS is the folder of the memory in the store of keys. A line has offset, type and value; of an erased record the
 * value is "erased".
 */
public final class ReadTopic {
    private static final Pattern NODE = Pattern.compile("\"([01]*)\"\\s*:\\s*\"([0-9a-f]{64})\"");
    private static final String[] CONTEXT = {"ce_source", "ce_type", "ce_eventversion", "ce_id"};

    public static void main(String[] args) throws Exception {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", args[0],
                "isolation.level", "read_committed",
                "key.deserializer", ByteArrayDeserializer.class,
                "value.deserializer", ByteArrayDeserializer.class);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings)) {
            List<TopicPartition> partitions = new ArrayList<>();
            consumer.partitionsFor(args[1]).forEach(p -> partitions.add(new TopicPartition(args[1], p.partition())));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                for (ConsumerRecord<byte[], byte[]> found : consumer.poll(Duration.ofMillis(500))) {
                    System.out.println(found.offset() + "\t" + header(found, "ce_type") + "\t" + read(found, args[2]));
                }
            }
        }
    }

    private static String read(ConsumerRecord<byte[], byte[]> found, String keys) throws Exception {
        byte[] value = found.value();
        if (value != null && value.length > 0 && value[0] == 2) {
            value = open(found, ByteBuffer.wrap(value, 1, value.length - 1), keys);
        }
        return value == null ? "erased" : new String(value, StandardCharsets.UTF_8);
    }

    private static byte[] open(ConsumerRecord<byte[], byte[]> found, ByteBuffer sealed, String keys) throws Exception {
        int tree = sealed.getInt();
        long number = sealed.getLong();
        byte[] nonce = new byte[12];
        sealed.get(nonce);
        byte[] encrypted = new byte[sealed.remaining()];
        sealed.get(encrypted);
        byte[] key = key(Path.of(keys), found.key(), tree, number);
        if (key == null) {
            return null;
        }
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, nonce));
        for (int at = 0; at < CONTEXT.length; at++) {
            cipher.updateAAD((at == 0 ? "" : "\0").getBytes(StandardCharsets.UTF_8));
            cipher.updateAAD(header(found, CONTEXT[at]).getBytes(StandardCharsets.UTF_8));
        }
        byte[] packed = cipher.doFinal(encrypted);
        return packed.length > 0 && packed[0] == '{' ? packed : inflate(packed);
    }

    /** Returns the key of a number in a tree of a group; null: it was destroyed. */
    private static byte[] key(Path keys, byte[] group, int tree, long number) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(group);
        String file = Files.readString(keys.resolve(HexFormat.of().formatHex(digest).substring(0, 32) + ".json"));
        String trees = file.substring(file.indexOf("\"trees\"")).replaceFirst("^[^\\[]*\\[", "");
        String digits = String.format("%63s", Long.toBinaryString(number)).replace(' ', '0');
        Matcher nodes = NODE.matcher(trees.split("\\}", -1)[tree]);
        while (nodes.find()) {
            if (digits.startsWith(nodes.group(1))) {
                byte[] key = HexFormat.of().parseHex(nodes.group(2));
                for (int at = nodes.group(1).length(); at < digits.length(); at++) {
                    key = branch(key, (byte) (digits.charAt(at) - '0'));
                }
                return key;
            }
        }
        return null;
    }

    private static byte[] branch(byte[] key, byte digit) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(new byte[] {digit});
    }

    private static byte[] inflate(byte[] packed) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (InflaterOutputStream inflater = new InflaterOutputStream(out)) {
            inflater.write(packed);
        }
        return out.toByteArray();
    }

    private static String header(ConsumerRecord<byte[], byte[]> found, String name) {
        Header header = found.headers().lastHeader(name);
        return header == null ? "" : new String(header.value(), StandardCharsets.UTF_8);
    }
}
